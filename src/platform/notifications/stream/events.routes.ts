import type { App } from '../../http/app-type.ts';
import { apiRoutes } from '../../http/api-routes.ts';
import { acceptsEventStream } from '../../http/responses/progress-stream.ts';
import { describeEventTypes } from '../event-types.ts';
import {
  createEventHub,
  type EventHubDeps,
  createCallerCheck,
  type CallerCheckDeps,
  listEvents,
  createEventStreams,
} from './stream-events.ts';
import { EventList, EventsQuery, EventTypeList } from './events.schema.ts';

export function eventRoutes(app: App, deps: EventHubDeps & CallerCheckDeps): void {
  const hub = createEventHub(deps);
  const streams = createEventStreams({ db: deps.db, hub, isActive: createCallerCheck(deps) });
  app.addHook('preClose', (done) => {
    streams.close();
    hub.close();
    done();
  });
  const route = apiRoutes(app, { tag: 'events', scope: 'detections:read' });
  route(
    'GET /api/event-types',
    { operationId: 'listEventTypes', summary: 'List event types that the key may read', returns: EventTypeList },
    ({ caller }) => Promise.resolve(describeEventTypes(caller)),
  );
  route(
    'GET /api/events',
    {
      operationId: 'listEvents',
      summary: 'List recent events of the organization, newest first, or stream them as they happen',
      description:
        'The events that destinations receive. With `Accept: text/event-stream`, the response is a stream of server-sent events that ends with the key or session: `id`, `event` (the type) and `data` (an `Event`), and a comment every 15 seconds. A client that reconnects sends `Last-Event-ID` and receives what it missed, up to 1,000 events; `limit` and `cursor` do not apply. At most 100 streams per organization (429). Types whose resource the key may not read are left out. Events are stored while a destination subscribes to them or a client reads this route, and for three days after. Added, corrected and retracted feed items are stored only for destinations; `feed.source.pulled` counts them.',
      query: EventsQuery,
      // It extends how long events are stored.
      usesPrimary: true,
      returns: EventList,
    },
    async ({ caller, query, request, reply }) => {
      if (!acceptsEventStream(request)) return listEvents(deps, caller, query);
      await streams.send(caller, query.types, { request, reply });
      return undefined as never;
    },
  );
}
