// Stand-in of the agency's booking system: a price takes it 16 ms.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	http.HandleFunc("/price", func(w http.ResponseWriter, r *http.Request) {
		boat, _ := strconv.Atoi(r.URL.Query().Get("boat"))
		week, _ := strconv.Atoi(r.URL.Query().Get("week"))
		time.Sleep(16 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"boat": boat, "week": week, "free": (boat*7+week*3)%5 != 0,
			"cents": 60000 + (boat*9173+week*1931)%190000,
			"until": time.Now().Add(24 * time.Hour).Format("2006-01-02"),
		})
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
