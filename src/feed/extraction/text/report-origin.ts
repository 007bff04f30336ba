import { toPublisherHost } from '../../model/publisher-host.ts';
import { findOwnDomain } from '../../reference-data/shared-suffixes.ts';
import { isPathHosting } from '../indicators/assessment/benign-values.ts';

const openingMaxChars = 900;
const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const month = String.raw`(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`;
const weekday = String.raw`(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?`;
const date = String.raw`${weekday}(?:(?<iso>20\d\d-\d\d-\d\d)|(?<m1>${month}) (?<d1>\d{1,2})(?:st|nd|rd|th)?,? (?<y1>20\d\d)|(?<d2>\d{1,2})(?:st|nd|rd|th)? (?<m2>${month}),? (?<y2>20\d\d))(?!\d)`;

/** A date beside a word for it: `Published on: March 2, 2026`. */
const labeled = new RegExp(
  String.raw`\b(?:published|posted|released|updated|issued|last modified|date)(?: by [^\n]{1,60}?)?(?: date)?(?: on| at)?\s?[:|]?\s{0,3}${date}`,
  'iu',
);
/** A line that is little else than a date. */
const alone = new RegExp(String.raw`^[^\p{L}\d\n]{0,4}${date}(?:[^\p{L}\n].{0,40})?$`, 'imu');
/** A heading that begins or ends with a date. */
const heading = new RegExp(String.raw`^(?:[^\n]{3,160}?[:–—-] )?${date}(?=\s*(?:$|\())`, 'imu');
const inPath = /[/_-](20\d\d)[/_-]?(0[1-9]|1[0-2])[/_-]?(0[1-9]|[12]\d|3[01])(?![\d])/;

/**
 * Returns the publisher of a report by its address: the owner of a repository or folder on shared hosting, else the registered domain.
 * Undefined without an address.
 */
export function findPublisher(sourceUrl: string | undefined): string | undefined {
  const host = toPublisherHost(sourceUrl);
  if (!host) return undefined;
  const [owner] = new URL(sourceUrl!).pathname.split('/').filter(Boolean);
  return isPathHosting(host) && owner ? owner : (findOwnDomain(host) ?? host);
}

/**
 * Returns the day on which a report was published as ISO text, as its opening lines or its address state it. Dates of events in
 * sentences do not count. Undefined if neither states a day.
 */
export function findPublishTime(text: string, sourceUrl: string | undefined): string | undefined {
  const opening = text.slice(0, openingMaxChars);
  for (const pattern of [labeled, alone, heading]) {
    const time = toTime(pattern.exec(opening)?.groups);
    if (time) return time;
  }
  const [, year, monthNumber, day] = inPath.exec(sourceUrl ?? '') ?? [];
  return year ? toIsoDay(Number(year), Number(monthNumber) - 1, Number(day)) : undefined;
}

function toTime(groups: Record<string, string | undefined> | undefined): string | undefined {
  if (!groups) return undefined;
  const { iso, m1, d1, y1, m2, d2, y2 } = groups;
  if (iso) {
    const [year, monthNumber, day] = iso.split('-').map(Number);
    return toIsoDay(year!, monthNumber! - 1, day!);
  }
  const name = (m1 ?? m2)!.slice(0, 3).toLowerCase();
  return toIsoDay(Number(y1 ?? y2), monthNames.indexOf(name), Number(d1 ?? d2));
}

/** Returns midnight of a day in UTC, or undefined if the month does not have that day. */
function toIsoDay(year: number, monthIndex: number, day: number): string | undefined {
  const time = new Date(Date.UTC(year, monthIndex, day));
  return time.getUTCMonth() === monthIndex && time.getUTCDate() === day ? time.toISOString() : undefined;
}
