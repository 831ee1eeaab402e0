require 'liquid'

DISHES = (1..400).map { |i| { 'id' => i, 'name' => "dish #{i}", 'price' => 400 + i * 37 % 1900, 'tags' => %w[hot mild vegan fish].rotate(i).first(1 + i % 3) } }
DAY = Liquid::Template.parse(File.read(File.join(__dir__, 'menu.liquid')))

run lambda { |env|
  case env['PATH_INFO']
  when %r{\A/menu/(\d+)\z}
    from = Regexp.last_match(1).to_i * 7 % 350
    body = DAY.render('title' => "menu #{from}", 'dishes' => DISHES[from, 36])
    [200, { 'content-type' => 'text/html' }, [body]]
  when %r{\A/dish/(\d+)\z}
    dish = DISHES[Regexp.last_match(1).to_i % DISHES.size]
    [200, { 'content-type' => 'text/plain' }, ["#{dish['name']} #{dish['price']}\n"]]
  when '/'
    [200, { 'content-type' => 'text/plain' }, ["menus\n"]]
  else
    [404, {}, []]
  end
}
