// Till receipts: an oapi-codegen strict server with bun on PostgreSQL.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
)

type receiptRow struct {
	bun.BaseModel `bun:"table:receipts"`
	ID            int64 `bun:"id,pk,autoincrement"`
	Till          int   `bun:"till"`
	Number        int64 `bun:"number"`
	Cents         int64 `bun:"cents"`
}

type itemRow struct {
	bun.BaseModel `bun:"table:receipt_events"`
	ID            int64  `bun:"id,pk,autoincrement"`
	Receipt       int64  `bun:"receipt"`
	Kind          string `bun:"kind"`
}

type statementRow struct {
	bun.BaseModel `bun:"table:statement_lines"`
	ID            int64  `bun:"id,pk,autoincrement"`
	Ref           string `bun:"ref"`
	Cents         int64  `bun:"cents"`
}

type server struct {
	db    *bun.DB
	tills ListTills200JSONResponse
	trace *log.Logger
}

func (s *server) Health(context.Context, HealthRequestObject) (HealthResponseObject, error) {
	return Health200TextResponse("ok"), nil
}

func (s *server) ListTills(context.Context, ListTillsRequestObject) (ListTillsResponseObject, error) {
	return s.tills, nil
}

func (s *server) ListReceipts(ctx context.Context, r ListReceiptsRequestObject) (ListReceiptsResponseObject, error) {
	var rows []receiptRow
	err := s.db.NewSelect().Model(&rows).Where("till = ?", r.Till).Order("id DESC").Limit(10).Scan(ctx)
	if err != nil {
		return nil, err
	}
	out := ListReceipts200JSONResponse{}
	for _, row := range rows {
		out = append(out, Receipt{Id: row.ID, Till: row.Till, Number: row.Number, Cents: row.Cents})
	}
	return out, nil
}

func (s *server) AddReceipt(ctx context.Context, r AddReceiptRequestObject) (AddReceiptResponseObject, error) {
	row := receiptRow{Till: r.Till, Number: r.Body.Number, Cents: r.Body.Cents}
	t0 := time.Now()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	t1 := time.Now()
	if _, err = tx.NewInsert().Model(&row).Exec(ctx); err != nil {
		return nil, err
	}
	if _, err = tx.NewInsert().Model(&itemRow{Receipt: row.ID, Kind: "printed"}).Exec(ctx); err != nil {
		return nil, err
	}
	t2 := time.Now()
	if err = tx.Commit(); err != nil {
		return nil, err
	}
	if s.trace != nil {
		s.trace.Printf("post at=%d begin=%.1f insert=%.1f commit=%.1f", t0.UnixMilli(), ms(t1.Sub(t0)), ms(t2.Sub(t1)), ms(time.Since(t2)))
	}
	return AddReceipt201JSONResponse{Id: row.ID, Till: row.Till, Number: row.Number, Cents: row.Cents}, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// importStatement books the pages of the bank's statement in one transaction.
func (s *server) importStatement(ctx context.Context, bank string) error {
	return s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for page := 0; ; page++ {
			resp, err := http.Get(fmt.Sprintf("%s/statement?page=%d", bank, page))
			if err != nil {
				return err
			}
			var body struct {
				Lines []struct {
					Ref   string `json:"ref"`
					Cents int64  `json:"cents"`
				} `json:"lines"`
				More bool `json:"more"`
			}
			err = json.NewDecoder(resp.Body).Decode(&body)
			resp.Body.Close()
			if err != nil {
				return err
			}
			rows := make([]statementRow, 0, len(body.Lines))
			for _, l := range body.Lines {
				rows = append(rows, statementRow{Ref: l.Ref, Cents: l.Cents})
			}
			if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
				return err
			}
			if !body.More {
				return nil
			}
		}
	})
}

func main() {
	dsn := fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", os.Getenv("DB_PORT"))
	sqldb := sql.OpenDB(pgdriver.NewConnector(pgdriver.WithDSN(dsn)))
	sqldb.SetMaxOpenConns(24)
	sqldb.SetMaxIdleConns(24)
	db := bun.NewDB(sqldb, pgdialect.New())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	for i := 0; ; i++ {
		if err := db.PingContext(ctx); err == nil {
			break
		} else if i > 100 {
			log.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, q := range []string{
		"CREATE TABLE IF NOT EXISTS receipts (id bigserial PRIMARY KEY, till int NOT NULL, number bigint NOT NULL, cents bigint NOT NULL)",
		"CREATE INDEX IF NOT EXISTS receipts_till ON receipts (till, id)",
		"CREATE TABLE IF NOT EXISTS receipt_events (id bigserial PRIMARY KEY, receipt bigint NOT NULL, kind text NOT NULL)",
		"CREATE TABLE IF NOT EXISTS statement_lines (id bigserial PRIMARY KEY, ref text NOT NULL, cents bigint NOT NULL)",
		"INSERT INTO receipts (till, number, cents) SELECT g % 40, g, 100 + g * 7 % 9000 FROM generate_series(1, 4000) g",
		"ANALYZE receipts",
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			log.Fatal(err)
		}
	}
	s := &server{db: db}
	if os.Getenv("TRACE") != "" {
		s.trace = log.New(os.Stderr, "", 0)
	}
	for i := 0; i < 40; i++ {
		s.tills = append(s.tills, Till{Id: i, Shop: fmt.Sprintf("shop %d", i/4)})
	}
	go func() {
		every := time.NewTicker(700 * time.Millisecond)
		for range every.C {
			t := time.Now()
			err := s.importStatement(ctx, "http://127.0.0.1:"+os.Getenv("BANK_PORT"))
			if err != nil && ctx.Err() == nil {
				log.Print("statement: ", err)
			}
			if s.trace != nil {
				s.trace.Printf("import at=%d took=%.1f", t.UnixMilli(), ms(time.Since(t)))
			}
		}
	}()
	h := HandlerFromMux(NewStrictHandler(s, nil), http.NewServeMux())
	srv := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: h}
	go func() { <-ctx.Done(); srv.Close() }()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
