package main

import (
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

var provider = &http.Client{Timeout: 5 * time.Second}

func collections(app core.App) error {
	if _, err := app.FindCollectionByNameOrId("orders"); err == nil {
		return nil
	}
	baskets := core.NewBaseCollection("baskets")
	baskets.Fields.Add(&core.TextField{Name: "customer"}, &core.TextField{Name: "sku"}, &core.NumberField{Name: "quantity"})
	baskets.CreateRule, baskets.ViewRule = types.Pointer(""), types.Pointer("")
	if err := app.Save(baskets); err != nil {
		return err
	}
	orders := core.NewBaseCollection("orders")
	orders.Fields.Add(&core.TextField{Name: "customer"}, &core.NumberField{Name: "cents"}, &core.TextField{Name: "receipt"})
	orders.ListRule, orders.ViewRule = types.Pointer(""), types.Pointer("")
	orders.AddIndex("orders_customer", false, "customer", "")
	if err := app.Save(orders); err != nil {
		return err
	}
	return app.RunInTransaction(func(tx core.App) error {
		for i := 0; i < 600; i++ {
			r := core.NewRecord(orders)
			r.Set("customer", "c"+string(rune('a'+i%20)))
			r.Set("cents", 100+i*7)
			r.Set("receipt", strings.Repeat("r", 24))
			if err := tx.Save(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkout writes the order and charges the customer; nothing may be stored when the charge fails.
func checkout(e *core.RequestEvent) error {
	var id string
	err := e.App.RunInTransaction(func(tx core.App) error {
		orders, err := tx.FindCachedCollectionByNameOrId("orders")
		if err != nil {
			return err
		}
		order := core.NewRecord(orders)
		order.Set("customer", e.Request.URL.Query().Get("customer"))
		order.Set("cents", 4900)
		if err := tx.Save(order); err != nil {
			return err
		}
		res, err := provider.Post(os.Getenv("PAYMENT_URL")+"/charge?order="+order.Id, "application/json", strings.NewReader(`{"cents":4900}`))
		if err != nil {
			return err
		}
		res.Body.Close()
		order.Set("receipt", res.Header.Get("X-Receipt"))
		id = order.Id
		return tx.Save(order)
	})
	if err != nil {
		return e.InternalServerError("not charged", err)
	}
	return e.JSON(http.StatusOK, map[string]string{"order": id})
}

func main() {
	dir, err := os.MkdirTemp("", "intake")
	if err != nil {
		log.Fatal(err)
	}
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: dir})
	app.OnServe().BindFunc(func(se *core.ServeEvent) error {
		if err := collections(se.App); err != nil {
			return err
		}
		se.Router.POST("/checkout", checkout)
		return se.Next()
	})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}
