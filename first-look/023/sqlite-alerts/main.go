// A local API of decisions against addresses: alerts, each with the decisions that came of it, in SQLite.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	_ "github.com/mattn/go-sqlite3"
)

const schema = `
CREATE TABLE alerts (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, created_at datetime NOT NULL, scenario text NOT NULL,
  message text, events_count integer, source_scope text, source_value text, simulated bool NOT NULL DEFAULT false);
CREATE INDEX alert_id ON alerts (id);
CREATE TABLE decisions (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, created_at datetime NOT NULL, until datetime,
  scenario text NOT NULL, type text NOT NULL, start_ip integer, end_ip integer, scope text NOT NULL, value text NOT NULL,
  origin text NOT NULL, simulated bool NOT NULL DEFAULT false, alert_decisions integer,
  CONSTRAINT decisions_alerts_decisions FOREIGN KEY (alert_decisions) REFERENCES alerts (id) ON DELETE CASCADE);
CREATE INDEX decision_start_ip_end_ip ON decisions (start_ip, end_ip);
CREATE INDEX decision_value ON decisions (value);
CREATE INDEX decision_until ON decisions (until);
CREATE INDEX decision_alert_decisions ON decisions (alert_decisions);
`

type alert struct {
	ID        int64  `json:"id"`
	CreatedAt string `json:"created_at"`
	Scenario  string `json:"scenario"`
	Message   string `json:"message"`
	Events    int    `json:"events_count"`
	Source    string `json:"source"`
	Decisions int    `json:"decisions"`
}

type decision struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Origin   string `json:"origin"`
	Scenario string `json:"scenario"`
	Scope    string `json:"scope"`
	Value    string `json:"value"`
	Until    string `json:"until"`
}

// HasDecisionsWith is what the ORM makes of "alerts that have a decision with".
func hasDecisionsWith(predicate string) string {
	return "EXISTS (SELECT decisions.alert_decisions FROM decisions WHERE alerts.id = decisions.alert_decisions AND decisions." + predicate + ")"
}

func alerts(db *sql.DB) gin.HandlerFunc {
	return func(c *gin.Context) {
		where := []string{"alerts.simulated = ?"}
		args := []any{false}
		if v := c.Query("decision_type"); v != "" {
			where, args = append(where, hasDecisionsWith("type = ?")), append(args, v)
		}
		if v := c.Query("origin"); v != "" {
			where, args = append(where, hasDecisionsWith("origin = ?")), append(args, v)
		}
		if v, _ := strconv.ParseBool(c.Query("has_active_decision")); v {
			where, args = append(where, hasDecisionsWith("until >= ?")), append(args, time.Now().UTC())
		}
		limit, err := strconv.Atoi(c.DefaultQuery("limit", "50"))
		if err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"message": "limit"})
			return
		}
		rows, err := db.QueryContext(c, `SELECT alerts.id, alerts.created_at, alerts.scenario, alerts.message, alerts.events_count,
			alerts.source_value, (SELECT count(*) FROM decisions WHERE decisions.alert_decisions = alerts.id)
			FROM alerts WHERE `+strings.Join(where, " AND ")+` ORDER BY alerts.created_at DESC, alerts.id DESC LIMIT ?`, append(args, limit)...)
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
			return
		}
		defer rows.Close()
		found := []alert{}
		for rows.Next() {
			var a alert
			if err := rows.Scan(&a.ID, &a.CreatedAt, &a.Scenario, &a.Message, &a.Events, &a.Source, &a.Decisions); err != nil {
				c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
				return
			}
			found = append(found, a)
		}
		c.JSON(http.StatusOK, found)
	}
}

func decisions(db *sql.DB) gin.HandlerFunc {
	return func(c *gin.Context) {
		rows, err := db.QueryContext(c, `SELECT id, type, origin, scenario, scope, value, until FROM decisions
			WHERE value = ? AND until >= ? AND simulated = ? ORDER BY id DESC LIMIT 20`, c.Query("ip"), time.Now().UTC(), false)
		if err != nil {
			c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
			return
		}
		defer rows.Close()
		found := []decision{}
		for rows.Next() {
			var d decision
			if err := rows.Scan(&d.ID, &d.Type, &d.Origin, &d.Scenario, &d.Scope, &d.Value, &d.Until); err != nil {
				c.JSON(http.StatusInternalServerError, gin.H{"message": err.Error()})
				return
			}
			found = append(found, d)
		}
		c.JSON(http.StatusOK, found)
	}
}

// fill writes what a small installation has after some weeks: single bans, and block lists that were pulled and are out of date.
func fill(db *sql.DB) error {
	if _, err := db.Exec(schema); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	random := rand.New(rand.NewSource(4470))
	now := time.Now().UTC()
	for n := 1; n <= 150; n++ {
		origin, count, left, source := "crowdsec", 1, time.Duration(24+random.Intn(72))*time.Hour, fmt.Sprintf("203.0.113.%d", n)
		if n%5 == 0 {
			origin = "cscli"
		}
		if n%3 == 0 {
			left = -left
		}
		if n%18 == 7 {
			origin, count, left, source = "lists", 240+random.Intn(50), -time.Duration(2+random.Intn(40))*time.Hour, "lists:firehol"
		}
		created := now.Add(-time.Duration(151-n) * time.Hour)
		r, err := tx.Exec("INSERT INTO alerts (created_at, scenario, message, events_count, source_scope, source_value) VALUES (?, ?, ?, ?, ?, ?)",
			created, "http-probing", "Address performed http-probing", 10+random.Intn(40), "Ip", source)
		if err != nil {
			return err
		}
		id, _ := r.LastInsertId()
		for i := 0; i < count; i++ {
			value := source
			if origin == "lists" {
				value = fmt.Sprintf("198.51.%d.%d", random.Intn(100), random.Intn(256))
			}
			if _, err := tx.Exec(`INSERT INTO decisions (created_at, until, scenario, type, start_ip, end_ip, scope, value, origin, alert_decisions)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, created, now.Add(left), "http-probing", "ban", random.Int63(), random.Int63(), "Ip", value, origin, id); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func main() {
	db, err := sql.Open("sqlite3", "file:"+os.Args[2]+"?_journal_mode=WAL&_busy_timeout=5000&_fk=1")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	if err := fill(db); err != nil {
		log.Fatal(err)
	}
	var version string
	if err := db.QueryRow("SELECT sqlite_version()").Scan(&version); err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/health", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "up", "sqlite": version}) })
	r.GET("/v1/alerts", alerts(db))
	r.GET("/v1/decisions", decisions(db))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], r))
}
