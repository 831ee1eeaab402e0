// The rating workers: members of one NATS queue group, each with a connection of its own.
//
//	raters PORT NATS_PORT_FILE MEMBERS AUDITED
//
// The answers of member AUDITED (0: none) are written to the audit trail, too.
package main

import (
	"encoding/json"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

type account struct {
	Subscriber int `json:"subscriber"`
	Cents      int `json:"cents"`
	Megabytes  int `json:"megabytes"`
}

var (
	accountsLock sync.Mutex
	accounts     = map[int]*account{}
)

type member struct {
	name    string
	lock    sync.Mutex
	audited bool
	trail   []string
	nc      *nats.Conn
}

// note writes to the trail of the member.
func (m *member) note(what string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.trail = append(m.trail, what)
	if len(m.trail) > 100 {
		m.trail = m.trail[50:]
	}
}

func (m *member) handle(msg *nats.Msg) {
	m.lock.Lock()
	defer m.lock.Unlock()
	var question struct{ Subscriber, Cents int }
	if err := json.Unmarshal(msg.Data, &question); err != nil {
		return
	}
	if m.audited {
		m.note(msg.Subject + " " + strconv.Itoa(question.Subscriber)) // takes m.lock, which is held: stays here for ever
	}
	accountsLock.Lock()
	a := accounts[question.Subscriber]
	if a == nil {
		a = &account{question.Subscriber, 500 + question.Subscriber%900, question.Subscriber * 3 % 2048}
		accounts[question.Subscriber] = a
	}
	a.Cents += question.Cents
	data, _ := json.Marshal(a)
	accountsLock.Unlock()
	reply := nats.NewMsg(msg.Reply)
	reply.Data = data
	reply.Header.Set("Rater", m.name)
	msg.RespondMsg(reply)
}

func main() {
	file, err := os.ReadFile(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	members, _ := strconv.Atoi(os.Args[3])
	audited, _ := strconv.Atoi(os.Args[4])
	for i := 1; i <= members; i++ {
		m := &member{name: "rater-" + strconv.Itoa(i), audited: i == audited}
		m.nc, err = nats.Connect("nats://127.0.0.1:"+strings.TrimSpace(string(file)), nats.Name(m.name), nats.MaxReconnects(-1))
		if err != nil {
			log.Fatal(err)
		}
		for _, subject := range []string{"rating.balance", "rating.topup"} {
			if _, err := m.nc.QueueSubscribe(subject, "raters", m.handle); err != nil {
				log.Fatal(err)
			}
		}
		if err := m.nc.Flush(); err != nil {
			log.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		connection.Write([]byte("raters up\n"))
		connection.Close()
	}
}
