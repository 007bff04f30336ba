import type { Db } from '../db/db.ts';
import type { App } from './app-type.ts';

/** Lets the transactions of GET and HEAD requests run on the read replica, if there is one. Register it after authentication, which stays on the primary. */
export function readFromReplica(app: App, { replica }: Db): void {
  if (!replica) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && !request.routeOptions.config.usesPrimary) replica.allowReads(done);
    else done();
  });
}
