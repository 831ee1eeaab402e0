import { Model } from 'objection'

export class Site extends Model {
  static tableName = 'sites'
}
export class Reservation extends Model {
  static tableName = 'reservations'
}
export class Deposit extends Model {
  static tableName = 'deposits'
}
