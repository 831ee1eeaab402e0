package main

import (
	"crypto/rand"
	"crypto/rsa"
	"log"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/valyala/fasthttp"
)

func main() {
	key, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), func(c *fasthttp.RequestCtx) {
		if string(c.Path()) == "/health" {
			c.SetBodyString("ok")
			return
		}
		now := time.Now()
		token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
			Issuer:    "shop",
			Subject:   string(c.QueryArgs().Peek("user")),
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour)),
		}).SignedString(key)
		if err != nil {
			c.Error(err.Error(), 500)
			return
		}
		c.SetBodyString(token)
	}))
}
