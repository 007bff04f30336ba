import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generateCompanyLogs } from '../../src/demo/company/company.ts';
import type { LogEvent } from '../../src/demo/company/shapes.ts';
import { readRecordedJson, readRecordedRows, requireData } from '../recorded-inputs.ts';
import type { AgentCase, CompanyName } from './case-table.ts';

/** When the cases are investigated: after all events. */
export const investigatedAt = new Date('2026-11-27T12:00:00Z');
const haldenEnd = new Date('2026-11-27T00:00:00Z');
const haldenDays = 18;
const minuteMs = 60_000;
const plantedDays = 20;

const texts = new URL('../detections/planted/planted-texts.json', import.meta.url);
const listTexts = (): string[] =>
  (JSON.parse(readFileSync(texts, 'utf8')) as { text: string }[]).map(({ text }) => text);

/** Returns the text that is planted in a case. */
export const plantedTextOf = ({ text = 0 }: AgentCase): string => listTexts()[text]!;

/** The address of a planted case, of RFC 5737. */
export const plantedAddress = (index: number): string => `203.0.113.${100 + index}`;

/** Returns the events of a company. The recorded ones are read and never copied. */
export function listCompanyLogs(company: CompanyName, cases: readonly AgentCase[]): LogEvent[] {
  switch (company) {
    case 'north':
      return [...listScenario(), ...cases.flatMap(plantSignIns)];
    case 'halden':
      return [...generateCompanyLogs({ end: haldenEnd, days: haldenDays })];
    case 'recordings':
      return [...listCloudTrail(), ...listWindows()];
  }
}

const listScenario = (): LogEvent[] =>
  ['auth', 'api', 'net', 'proxy'].flatMap((dataset) =>
    readRecordedRows<Record<string, unknown>>(`scenarios/${dataset}.ndjson.gz`).map((event) => ({
      at: new Date(String(event['timestamp'])),
      dataset,
      event,
    })),
  );

/** An attack of the project's own: a sign-in at home, and another from far away half an hour later. */
function plantSignIns(one: AgentCase, index: number): LogEvent[] {
  const at = Date.parse(one.from);
  const signIn = (minutes: number, more: Record<string, unknown>): LogEvent => {
    const time = new Date(at + minutes * minuteMs);
    return {
      at: time,
      dataset: 'auth',
      event: { timestamp: time.toISOString(), user: one.entity, outcome: 'success', app: 'mail', ...more },
    };
  };
  const agent = one.place === 'row' ? plantedTextOf(one) : 'Mozilla/5.0';
  const home = Array.from({ length: plantedDays }, (_, day) =>
    signIn(-(day + 1) * 1440, { country: 'SE', src_ip: `198.51.100.${index}` }),
  );
  return [
    ...home,
    signIn(10, { country: 'SE', src_ip: `198.51.100.${index}` }),
    signIn(45, { country: 'VN', src_ip: plantedAddress(index), user_agent: agent }),
  ];
}

function listCloudTrail(): LogEvent[] {
  const folder = 'logs/cloudtrail';
  return readdirSync(join(requireData(), folder)).flatMap((name) =>
    readRecordedJson<{ Records: Record<string, unknown>[] }>(`${folder}/${name}`).Records.map((event) => ({
      at: new Date(String(event['eventTime'])),
      dataset: 'cloudtrail',
      event,
    })),
  );
}

const listWindows = (): LogEvent[] =>
  readdirSync(join(requireData(), 'logs/windows')).flatMap((name) =>
    readRecordedRows<Record<string, unknown>>(`logs/windows/${name}/events.ndjson.gz`)
      .filter((event) => typeof event['@timestamp'] === 'string')
      .map((event) => ({ at: new Date(String(event['@timestamp'])), dataset: 'windows', event })),
  );
