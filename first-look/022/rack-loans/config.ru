# Loans of a town library: plain Rack 2 on Puma 5, ActiveRecord 6.1 over mysql2, MariaDB.
require_relative "models"

Timing = ENV["TIMING_LOG"] && File.open(ENV["TIMING_LOG"], "a").tap { |f| f.sync = true }

class Loans
  JSON_TYPE = { "content-type" => "application/json" }.freeze

  def call(env)
    request = Rack::Request.new(env)
    return answer(405, error: "only GET") unless request.get?

    ActiveRecord::Base.connection_pool.with_connection { route(request.path_info) }
  end

  private

  def route(path)
    case path
    when "/health" then answer(200, ok: Book.count)
    when %r{\A/sessions/(\h{12})/loans\z} then loans($1)
    when %r{\A/books/(\d+)\z}
      book = Book.find_by(id: $1)
      book ? answer(200, book.as_json) : answer(404, error: "no such book")
    when %r{\A/branches/(\w+)/members\z} then answer(200, members: Member.where(branch: $1).count)
    else answer(404, error: "not found")
    end
  end

  # The session is stamped at most once in four seconds: the statement changes no row when the stamp is younger.
  def loans(token)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    changed = Session.where(token: token).where("last_seen < NOW(6) - INTERVAL 4 SECOND").update_all("last_seen = NOW(6)")
    Timing&.write(format("%.4f update changed %d ms %.1f\n", Time.now.to_f, changed, (Process.clock_gettime(Process::CLOCK_MONOTONIC) - started) * 1000))
    session = Session.find_by(token: token)
    return answer(401, error: "no such session") unless session

    rows = Loan.joins(:book).where(member_id: session.member_id).order(:due).pluck("books.title", "books.author", :due)
    answer(200, member: session.member_id, loans: rows.map { |title, author, due| { title: title, author: author, due: due } })
  end

  def answer(status, body)
    [status, JSON_TYPE, [JSON.generate(body)]]
  end
end

use Rack::ContentLength
use Rack::ETag
run Loans.new
