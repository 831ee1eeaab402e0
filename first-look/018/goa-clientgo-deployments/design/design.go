// Package design describes the API of the rollout page.
package design

import . "goa.design/goa/v3/dsl"

var _ = API("rollouts", func() { Title("Rollout page") })

var Deployment = Type("Deployment", func() {
	Attribute("namespace", String)
	Attribute("name", String)
	Attribute("image", String)
	Attribute("desired", Int)
	Attribute("ready", Int)
	Required("namespace", "name", "image", "desired", "ready")
})

var Team = Type("Team", func() {
	Attribute("namespace", String)
	Attribute("owner", String)
	Attribute("pods", Int)
	Required("namespace", "owner", "pods")
})

var _ = Service("rollouts", func() {
	Method("show", func() {
		Payload(func() {
			Attribute("namespace", String)
			Attribute("name", String)
			Required("namespace", "name")
		})
		Result(Deployment)
		HTTP(func() { GET("/namespaces/{namespace}/deployments/{name}") })
	})
	Method("teams", func() {
		Result(ArrayOf(Team))
		HTTP(func() { GET("/teams") })
	})
	Method("team", func() {
		Payload(func() {
			Attribute("namespace", String)
			Required("namespace")
		})
		Result(Team)
		HTTP(func() { GET("/teams/{namespace}") })
	})
	Method("health", func() {
		Result(String)
		HTTP(func() { GET("/healthz") })
	})
})
