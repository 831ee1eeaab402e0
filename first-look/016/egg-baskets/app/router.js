'use strict';
module.exports = (app) => {
  app.router.get('/health', app.controller.shop.health);
  app.router.get('/baskets/:id', app.controller.shop.basket);
  app.router.get('/articles/:sku', app.controller.shop.article);
};
