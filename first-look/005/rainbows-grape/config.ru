require 'grape'
require 'json'

Sale = Struct.new(:day, :region, :amount)
SALES = Array.new((ENV['SALES'] || 60_000).to_i) { |i| Sale.new(i % 28, %w[north south east west][i % 4], (i * 7919) % 1000) }

class Shop < Grape::API
  format :json

  get('/items/:id') { { id: params[:id], name: "Item #{params[:id]}", price: params[:id].to_i % 500 } }

  get '/sales/:month' do
    rows = SALES.group_by { |s| [s.day, s.region] }.map do |(day, region), list|
      amounts = list.map { |s| s.amount * 119 / 100.0 }.sort
      { day: day, region: region, count: amounts.size, total: amounts.sum.round(2), median: amounts[amounts.size / 2] }
    end
    { month: params[:month], rows: rows.sort_by { |r| [r[:day], r[:region]] } }
  end
end

Shop.compile!
use Rack::ContentLength
run Shop
