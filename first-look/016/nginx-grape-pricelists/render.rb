# Renders one chapter of the price list. As a program: reads chapter numbers, one a
# line, and answers with the length of the HTML and the HTML.
require 'kramdown'

module Render
  def self.chapter(number)
    text = +"# Chapter #{number}\n\n"
    (1..400).each do |i|
      text << "## Article #{number}-#{i}\n\nSold in *boxes* of `#{i}`; see [terms](/static/terms.txt) and **notes**.\n\n* from 10: #{i * 7}\n* from 100: #{i * 6}\n\n"
    end
    Kramdown::Document.new(text).to_html
  end
end

if $PROGRAM_NAME == __FILE__
  $stdout.sync = true
  while (line = $stdin.gets)
    html = Render.chapter(line.to_i)
    $stdout.write("#{html.bytesize}\n#{html}")
  end
end
