require_relative 'trails'

run Trails
