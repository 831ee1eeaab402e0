import { audit } from '../app/services/audit.js'

export default class AuditProvider {
  constructor(app) {
    this.app = app
  }

  async boot() {
    await audit.open(process.env.AUDIT_DB)
  }

  async shutdown() {
    await audit.close()
  }
}
