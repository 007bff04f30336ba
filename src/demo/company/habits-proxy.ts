import type { Shift } from './calendar.ts';
import { drawMoments } from './calendar.ts';
import type { Person } from './people.ts';
import type { Random } from './random.ts';
import type { LogEvent } from './shapes.ts';
import { drawLocation, buildProxyEvent, createStamp } from './shapes.ts';

const sites = [
  'news.example.com',
  'docs.example.com',
  'search.example.com',
  'weather.example.net',
  'maps.example.net',
  'packages.example.org',
  'questions.example.org',
  'meetings.example.com',
  'travel.example.net',
];

/** Generates a working day of browsing, sometimes with an upload of some megabytes. */
export function* generateWebRequests(person: Person, shift: Shift, random: Random): Generator<LogEvent> {
  const { user } = person;
  for (const at of drawMoments(shift, random.int(5, 12), random)) {
    const request = {
      user,
      ip: drawLocation(person, random).ip,
      domain: random.pick(sites),
      received: random.int(900, 400_000),
    };
    yield buildProxyEvent(createStamp(random, at), request);
  }
  if (random.chance(0.15)) {
    const [at = shift.from] = drawMoments(shift, 1, random);
    const sent = random.int(1, 30) * 1_000_000;
    yield buildProxyEvent(createStamp(random, at), {
      user,
      ip: person.site.officeIp,
      domain: 'share.example.com',
      path: '/upload',
      sent,
    });
  }
}
