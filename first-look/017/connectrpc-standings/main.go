// League standings: Connect RPC handlers (connectrpc.com/connect) over pgx and
// PostgreSQL. The table of each league is a materialized view over all matches,
// which a goroutine refreshes after new results.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/types/known/structpb"
)

const schema = `
create table if not exists matches (
	id bigint generated always as identity primary key,
	league int not null, home int not null, away int not null,
	home_goals int not null, away_goals int not null, played timestamptz not null default now());
create index if not exists matches_league on matches (league, id desc);
insert into matches (league, home, away, home_goals, away_goals, played)
	select n % 60, n % 18, (n * 7 + n / 18 + 1) % 18, (n * 13) % 5, (n * 31) % 4, now() - n * interval '1 minute'
	from generate_series(1, 130000) n where not exists (select from matches);
create materialized view if not exists standings as
	with sides as (
		select league, home as team, home_goals as scored, away_goals as got from matches
		union all
		select league, away, away_goals, home_goals from matches)
	select league, team, count(*)::int as played,
		(count(*) filter (where scored > got) * 3 + count(*) filter (where scored = got))::int as points,
		(sum(scored) - sum(got))::int as difference,
		rank() over (partition by league order by count(*) filter (where scored > got) * 3
			+ count(*) filter (where scored = got) desc, sum(scored) - sum(got) desc)::int as place
	from sides group by league, team;
create unique index if not exists standings_key on standings (league, team);
analyze`

type Message = structpb.Struct

type Server struct {
	db    *pgxpool.Pool
	dirty atomic.Bool
}

func number(m *Message, field string) int { return int(m.GetFields()[field].GetNumberValue()) }

func answer(v map[string]any) (*connect.Response[Message], error) {
	m, err := structpb.NewStruct(v)
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, err)
	}
	return connect.NewResponse(m), nil
}

// Table gives the standings of a league.
func (s *Server) Table(ctx context.Context, req *connect.Request[Message]) (*connect.Response[Message], error) {
	t0 := time.Now()
	rows, err := s.db.Query(ctx, "select team, played, points, difference, place from standings where league = $1 order by place, team", number(req.Msg, "league"))
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, err)
	}
	defer rows.Close()
	table := []any{}
	for rows.Next() {
		var team, played, points, difference, place int
		if err := rows.Scan(&team, &played, &points, &difference, &place); err != nil {
			return nil, connect.NewError(connect.CodeInternal, err)
		}
		table = append(table, map[string]any{"team": fmt.Sprintf("Team %d", team), "played": played,
			"points": points, "difference": difference, "place": place})
	}
	note("table", time.Since(t0), 0)
	return answer(map[string]any{"table": table})
}

// Latest gives the last results of a league.
func (s *Server) Latest(ctx context.Context, req *connect.Request[Message]) (*connect.Response[Message], error) {
	rows, err := s.db.Query(ctx, "select home, away, home_goals, away_goals from matches where league = $1 order by id desc limit 10", number(req.Msg, "league"))
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, err)
	}
	defer rows.Close()
	results := []any{}
	for rows.Next() {
		var home, away, hg, ag int
		if err := rows.Scan(&home, &away, &hg, &ag); err != nil {
			return nil, connect.NewError(connect.CodeInternal, err)
		}
		results = append(results, fmt.Sprintf("Team %d - Team %d %d:%d", home, away, hg, ag))
	}
	return answer(map[string]any{"results": results})
}

// Report stores a result.
func (s *Server) Report(ctx context.Context, req *connect.Request[Message]) (*connect.Response[Message], error) {
	n := number(req.Msg, "n")
	var id int64
	err := s.db.QueryRow(ctx, `insert into matches (league, home, away, home_goals, away_goals) values ($1, $2, $3, $4, $5) returning id`,
		number(req.Msg, "league"), n%18, (n+5)%18, n%4, n%3).Scan(&id)
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, err)
	}
	s.dirty.Store(true)
	return answer(map[string]any{"id": float64(id)})
}

// keepFresh refreshes the standings when there are new results.
func (s *Server) keepFresh(ctx context.Context, every time.Duration, how string) {
	for range time.Tick(every) {
		if !s.dirty.Swap(false) {
			continue
		}
		t0 := time.Now()
		if _, err := s.db.Exec(ctx, "refresh materialized view "+how+" standings"); err != nil {
			if ctx.Err() != nil {
				return
			}
			log.Print("refresh: ", err)
		}
		note("refresh", time.Since(t0), 0)
	}
}

func env(key, def string) string {
	if v := os.Getenv(key); v != "" {
		return v
	}
	return def
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	db, err := pgxpool.New(ctx, fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable&pool_max_conns=40&pool_min_conns=20", env("DB_PORT", "5432")))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for i := 0; db.Ping(ctx) != nil && i < 100; i++ {
		time.Sleep(200 * time.Millisecond)
	}
	if _, err := db.Exec(ctx, schema); err != nil {
		log.Fatal(err)
	}
	s := &Server{db: db}
	how := ""
	if env("REFRESH_CONCURRENTLY", "no") == "yes" {
		how = "concurrently"
	}
	go s.keepFresh(ctx, 600*time.Millisecond, how)

	mux := http.NewServeMux()
	unary := func(procedure string, f func(context.Context, *connect.Request[Message]) (*connect.Response[Message], error)) {
		mux.Handle(procedure, connect.NewUnaryHandler(procedure, f))
	}
	unary("/league.v1.StandingsService/Table", s.Table)
	unary("/league.v1.ResultsService/Latest", s.Latest)
	unary("/league.v1.ResultsService/Report", s.Report)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if err := db.Ping(r.Context()); err != nil {
			w.WriteHeader(503)
		}
	})
	server := &http.Server{Addr: "127.0.0.1:" + env("PORT", "8080"), Handler: mux}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
