//go:build tools

package main

import _ "goa.design/goa/v3/codegen/generator"
