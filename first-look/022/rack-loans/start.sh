#!/bin/sh
exec puma -C "$1/puma.rb"
