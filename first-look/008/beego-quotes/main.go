package main

import (
	"os"
	"strconv"
	"sync"

	"github.com/beego/beego/v2/server/web"
	"github.com/dop251/goja"
)

// The rules of the price list are JavaScript, maintained by the sales team.
type Rules struct {
	mu    sync.Mutex // a goja runtime must not be used by two goroutines
	vm    *goja.Runtime
	price goja.Callable
	plan  goja.Callable
}

func load(path string) *Rules {
	src, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	r := &Rules{vm: goja.New()}
	if _, err = r.vm.RunString(string(src)); err != nil {
		panic(err)
	}
	r.price, _ = goja.AssertFunction(r.vm.Get("price"))
	r.plan, _ = goja.AssertFunction(r.vm.Get("plan"))
	return r
}

func (r *Rules) Call(f goja.Callable, args ...any) (float64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := make([]goja.Value, len(args))
	for i, a := range args {
		in[i] = r.vm.ToValue(a)
	}
	v, err := f(goja.Undefined(), in...)
	if err != nil {
		return 0, err
	}
	return v.ToFloat(), nil
}

var rules *Rules

type QuoteController struct{ web.Controller }

func (c *QuoteController) Get() {
	qty, _ := strconv.Atoi(c.GetString("qty", "1"))
	p, err := rules.Call(rules.price, c.Ctx.Input.Param(":sku"), qty)
	if err != nil {
		c.CustomAbort(500, err.Error())
	}
	c.Data["json"] = map[string]any{"price": p}
	c.ServeJSON()
}

type PlanController struct{ web.Controller }

func (c *PlanController) Get() {
	p, err := rules.Call(rules.plan, c.Ctx.Input.Param(":region"))
	if err != nil {
		c.CustomAbort(500, err.Error())
	}
	c.Data["json"] = map[string]any{"revenue": p}
	c.ServeJSON()
}

type HealthController struct{ web.Controller }

func (c *HealthController) Get() { c.Ctx.WriteString("ok") }

func main() {
	rules = load(os.Getenv("RULES"))
	port, _ := strconv.Atoi(os.Getenv("PORT"))
	web.BConfig.Listen.HTTPAddr, web.BConfig.Listen.HTTPPort = "127.0.0.1", port
	web.BConfig.RunMode = "prod"
	web.Router("/health", &HealthController{})
	web.Router("/quote/:sku", &QuoteController{})
	web.Router("/plan/:region", &PlanController{})
	web.Run()
}
