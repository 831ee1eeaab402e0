'use strict';
exports.redis = { enable: true, package: 'egg-redis' };
exports.session = false;
exports.multipart = false;
exports.i18n = false;
exports.static = false;
