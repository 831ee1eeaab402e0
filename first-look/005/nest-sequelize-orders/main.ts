import 'reflect-metadata';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataTypes, Model, Sequelize } from 'sequelize';

const sequelize = new Sequelize(process.env.DATABASE_URL!, { logging: false, pool: { min: 4, max: 10 }, define: { timestamps: false } });

class Order extends Model {
  declare id: number;
  declare getLines: () => Promise<Line[]>;
}
class Line extends Model {
  declare sku: string;
  declare amount: number;
}
Order.init({ id: { type: DataTypes.INTEGER, primaryKey: true }, customer: DataTypes.INTEGER }, { sequelize, tableName: 'orders' });
Line.init({ id: { type: DataTypes.INTEGER, primaryKey: true }, sku: DataTypes.STRING, amount: DataTypes.INTEGER }, { sequelize, tableName: 'order_lines' });
Order.hasMany(Line, { as: 'lines', foreignKey: 'order_id' });

@Controller()
class OrdersController {
  @Get('health')
  async health() {
    await sequelize.authenticate();
    return 'ok';
  }

  @Get('customers/:id/orders')
  async list(@Param('id') id: string) {
    const orders = await Order.findAll({ where: { customer: Number(id) }, order: ['id'] });
    const out = [];
    for (const order of orders) {
      const lines = await order.getLines();
      out.push({ id: order.id, skus: lines.map((l) => l.sku), total: lines.reduce((sum, l) => sum + l.amount, 0) });
    }
    return out;
  }
}

@Module({ controllers: [OrdersController] })
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.getHttpServer().keepAliveTimeout = 65_000;
  await app.listen(Number(process.argv[2]), '127.0.0.1');
}
bootstrap();
