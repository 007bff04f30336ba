import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SoakPlan } from './plan.ts';
import { listEvents, hourNumber, toRows } from './scripted-events.ts';

export type ScriptedSiem = {
  url: string;
  /** The current hour. Queries for it or for later hours are a deviation. */
  hour: number;
  /** The number of answers per detection and hour, indexed by `answerIndex`. */
  answerCounts: Uint16Array;
  deviations: string[];
  close: () => void;
};

const hoursPerRule = ({ timeline: world }: SoakPlan): number => world.hours + 200;
export const answerIndex = (plan: SoakPlan, rule: number, hour: number): number => rule * hoursPerRule(plan) + hour;

/** Starts a SIEM server that returns the scripted events. In an outage it alternates between a dropped connection and status 503. */
export async function startScriptedSiem(plan: SoakPlan): Promise<ScriptedSiem> {
  const answers = new Uint16Array(plan.rules.length * hoursPerRule(plan));
  const siem: ScriptedSiem = { url: '', hour: 0, answerCounts: answers, deviations: [], close: () => undefined };
  let refusals = 0;
  const server = createServer((request, response) => {
    // A killed worker drops its connection in the middle of a request.
    readQuery(request).then(
      (body) => answer(body, response),
      () => response.destroy(),
    );
  });
  const answer = ({ rule: index, from, to }: SiemQuery, response: ServerResponse): void => {
    const rule = plan.rules[index]!;
    if (isSiemDown(plan, rule.org, siem.hour)) {
      refusals += 1;
      if (refusals % 2 === 0) response.destroy();
      else send(response, 503, { error: 'down for maintenance' });
      return;
    }
    const { brokenQueries: broken } = plan;
    if (broken.rules.includes(index) && siem.hour >= broken.from && siem.hour < broken.to)
      return send(response, 400, { error: 'unknown field action' });
    const [first, end] = [hourNumber(plan.timeline, new Date(from)), hourNumber(plan.timeline, new Date(to))];
    if (end > siem.hour) siem.deviations.push(`detection ${index} queried [${first}, ${end}) at hour ${siem.hour}`);
    const hours = Array.from({ length: end - first }, (_, n) => first + n);
    for (const hour of hours) answers[answerIndex(plan, index, hour)]! += 1;
    send(response, 200, { rows: hours.flatMap((hour) => toRows(rule, listEvents(plan.timeline, rule, hour))) });
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

type SiemQuery = { rule: number; from: string; to: string };

export const isSiemDown = ({ outages }: SoakPlan, org: number, hour: number): boolean =>
  outages.some(({ what, orgs, from, to }) => what === 'siem' && hour >= from && hour < to && (orgs === 'all' || orgs.includes(org))); // prettier-ignore

async function readQuery(request: IncomingMessage): Promise<SiemQuery> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as SiemQuery;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
