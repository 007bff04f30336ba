import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Plan } from './plan.ts';
import { eventsOf, hourOf, rowsOf } from './world.ts';

export type Siem = {
  url: string;
  /** The hour that it is; nothing of it or later may be asked for. */
  hour: number;
  /** How often each hour was answered for each detection, at `answerAt`. */
  answers: Uint16Array;
  faults: string[];
  close: () => void;
};

const answersHours = ({ world }: Plan): number => world.hours + 200;
export const answerAt = (plan: Plan, rule: number, hour: number): number => rule * answersHours(plan) + hour;

/** A SIEM over HTTP that knows every event beforehand. In an outage it refuses or breaks off, in turn. */
export async function serveSiem(plan: Plan): Promise<Siem> {
  const answers = new Uint16Array(plan.rules.length * answersHours(plan));
  const siem: Siem = { url: '', hour: 0, answers, faults: [], close: () => undefined };
  let refused = 0;
  const server = createServer((request, response) => {
    // A worker that is killed breaks off in the middle of its question.
    read(request).then(
      (body) => answer(body, response),
      () => response.destroy(),
    );
  });
  const answer = ({ rule: index, from, to }: Asked, response: ServerResponse): void => {
    const rule = plan.rules[index]!;
    if (isOut(plan, rule.org, siem.hour)) {
      refused += 1;
      if (refused % 2 === 0) response.destroy();
      else send(response, 503, { error: 'down for maintenance' });
      return;
    }
    const { brokenQueries: broken } = plan;
    if (broken.rules.includes(index) && siem.hour >= broken.from && siem.hour < broken.to)
      return send(response, 400, { error: 'unknown field action' });
    const [first, end] = [hourOf(plan.world, new Date(from)), hourOf(plan.world, new Date(to))];
    if (end > siem.hour) siem.faults.push(`detection ${index} asked at hour ${siem.hour} for [${first}, ${end})`);
    const hours = Array.from({ length: end - first }, (_, n) => first + n);
    for (const hour of hours) answers[answerAt(plan, index, hour)]! += 1;
    send(response, 200, { rows: hours.flatMap((hour) => rowsOf(rule, eventsOf(plan.world, rule, hour))) });
  };
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  siem.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  siem.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return siem;
}

type Asked = { rule: number; from: string; to: string };

export const isOut = ({ outages }: Plan, org: number, hour: number): boolean =>
  outages.some(({ what, orgs, from, to }) => what === 'siem' && hour >= from && hour < to && (orgs === 'all' || orgs.includes(org))); // prettier-ignore

async function read(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Asked;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
