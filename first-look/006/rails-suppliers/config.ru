require "rails"
require "active_record/railtie"
require "action_controller/railtie"

class Suppliers < Rails::Application
  config.load_defaults 6.1
  config.root = __dir__
  config.eager_load = true
  config.cache_classes = true
  config.secret_key_base = "0" * 64
  config.logger = Logger.new($stderr, level: Logger::WARN)
  config.hosts.clear
  routes.append do
    get "/up", to: "suppliers#up"
    get "/suppliers/:id", to: "suppliers#show"
    get "/suppliers/:id/statement", to: "suppliers#statement"
    get "/suppliers/:id/sheet", to: "suppliers#sheet"
  end
end

class Supplier < ActiveRecord::Base
  has_many :invoices
end

class Invoice < ActiveRecord::Base
end

class SuppliersController < ActionController::Base
  def up
    render plain: "ok"
  end

  def show
    render json: Supplier.find(params[:id])
  end

  # the sums of a year, which the database works out
  def statement
    rows = Supplier.connection.select_all(Supplier.sanitize_sql([<<~SQL, params[:id]]))
      select date_trunc('month', due) as month, sum(cents) as cents, (select count(*) from pg_sleep(0.18)) as runs
      from invoices where supplier_id = ? group by 1 order by 1
    SQL
    render json: rows
  end

  # all invoices of a supplier as a page
  def sheet
    rows = Supplier.find(params[:id]).invoices.order(:due).to_a
    html = rows.map { |i| "<tr><td>#{ERB::Util.h(i.number)}</td><td>#{i.due.strftime("%d.%m.%Y")}</td><td>#{format("%.2f", i.cents / 100.0)}</td></tr>" }
    render html: "<table>#{html.join("\n")}</table>".html_safe
  end
end

run Suppliers.initialize!
