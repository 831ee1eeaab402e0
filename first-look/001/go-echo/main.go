package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

type record struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

func main() {
	records := make([]record, 20000)
	for i := range records {
		records[i] = record{i, fmt.Sprintf("customer %d", i), fmt.Sprintf("c%d@example.org", i)}
	}
	e := echo.New()
	e.HideBanner = true
	e.HidePort = true
	e.GET("/customer", func(c echo.Context) error { return c.JSON(http.StatusOK, records[17]) })
	e.GET("/export", func(c echo.Context) error { return c.JSON(http.StatusOK, records) })
	e.Logger.Fatal(e.Start("127.0.0.1:" + os.Args[1]))
}
