// The authoritative name server of shop.internal, in the other data centre:
// each answer takes ZONE_DELAY. All names are replicas on 127.0.0.1.
package main

import (
	"log"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/miekg/dns"
)

func main() {
	delay, err := time.ParseDuration(os.Getenv("ZONE_DELAY"))
	if err != nil {
		log.Fatal(err)
	}
	ttl, err := strconv.Atoi(os.Getenv("ZONE_TTL"))
	if err != nil {
		log.Fatal(err)
	}
	dns.HandleFunc("shop.internal.", func(w dns.ResponseWriter, q *dns.Msg) {
		time.Sleep(delay)
		m := new(dns.Msg)
		m.SetReply(q)
		m.Authoritative = true
		h := dns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: dns.ClassINET, Ttl: uint32(ttl)}
		switch q.Question[0].Qtype {
		case dns.TypeA:
			m.Answer = append(m.Answer, &dns.A{Hdr: h, A: net.IPv4(127, 0, 0, 1)})
		case dns.TypeAAAA:
			h.Rrtype = dns.TypeSOA
			h.Name = "shop.internal."
			m.Ns = append(m.Ns, &dns.SOA{Hdr: h, Ns: "ns.shop.internal.", Mbox: "root.shop.internal.", Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: uint32(ttl)})
		}
		_ = w.WriteMsg(m)
	})
	addr := "127.0.0.1:" + os.Getenv("PORT")
	go func() { log.Fatal((&dns.Server{Addr: addr, Net: "tcp"}).ListenAndServe()) }()
	log.Fatal((&dns.Server{Addr: addr, Net: "udp"}).ListenAndServe())
}
