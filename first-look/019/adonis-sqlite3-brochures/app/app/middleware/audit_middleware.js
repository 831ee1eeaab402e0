import { audit } from '#services/audit'

export default class AuditMiddleware {
  async handle({ request }, next) {
    await next()
    // nobody waits for the row
    if (request.url() !== '/tours') audit.record(request.method(), request.url(), request.ip())
  }
}
