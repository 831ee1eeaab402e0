require "sinatra/base"
require "csv"
require "json"

Invoice = Struct.new(:id, :customer, :net, :tax, :paid_on)
INVOICES = Array.new(26_000) do |i|
  Invoice.new(i, "Customer #{i % 700}", (i * 37 % 9000) / 100.0, (i * 7 % 900) / 100.0, "2026-0#{1 + i % 9}-1#{i % 10}")
end

class Invoices < Sinatra::Base
  set :environment, :production
  set :logging, false

  get "/invoices/:id" do
    content_type :json
    INVOICES[params["id"].to_i % INVOICES.size].to_h.to_json
  end

  get "/export.csv" do
    content_type "text/csv"
    CSV.generate do |csv|
      csv << Invoice.members
      INVOICES.each { |i| csv << [i.id, i.customer, format("%.2f", i.net), format("%.2f", i.tax), i.paid_on] }
    end
  end
end

run Invoices
