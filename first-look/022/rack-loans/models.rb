require "json"
require "rack"
require "active_record"

ActiveRecord::Base.establish_connection(
  adapter: "mysql2", host: "127.0.0.1", port: Integer(ENV.fetch("DB_PORT")), username: "library", password: "library",
  database: "library", pool: 16, checkout_timeout: 10, reconnect: false
)

class Member < ActiveRecord::Base
  has_many :loans
end

class Session < ActiveRecord::Base
  self.primary_key = "token"
  belongs_to :member
end

class Book < ActiveRecord::Base
end

class Loan < ActiveRecord::Base
  belongs_to :member
  belongs_to :book
end
