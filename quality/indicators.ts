import { extractIndicators, type Found } from '../src/ingest/extract/indicators/extract-indicators.ts';
import { canonical } from '../src/ingest/extract/indicators/canonical.ts';
import { campaigns, goldOf, type Campaign } from './eset.ts';
import { benignOf } from './eset-benign.ts';
import { findPeer } from './peer.ts';
import { percent, type Figure } from './table.ts';

const groups = [
  ['ip', 0.98],
  ['hash', 0.99],
  ['domain', 0.95],
  ['url', 0.95],
  ['file', undefined],
  ['registry key', undefined],
] as const;

/** One form for comparing values of all sources: clear, lower case, without the marks that say nothing. */
const key = (value: string): string =>
  value
    .toLowerCase()
    .replaceAll(/\\{2,}/g, '\\')
    .replace(/^(?:hkcu|hkey_current_user)\\/, 'hkcu\\')
    .replace(/^(?:hklm|hkey_local_machine)\\/, 'hklm\\')
    .replace(/[\\/]$/, '');

const keysOf = (found: Found[]): Set<string> =>
  new Set(
    found.flatMap(({ normalizedValue }) => [key(normalizedValue), key(normalizedValue.replace(/^http:\/\//, ''))]),
  );

/** Recall by type and false ones on the ESET campaigns, beside npm's ioc-extractor. */
export async function measureIndicators(verbose: boolean): Promise<Figure[]> {
  const peer = await findPeer();
  const rows: Figure[] = [];
  const read = campaigns().map((campaign) => ({
    campaign,
    found: extractIndicators(campaign.text, { publisherHosts: ['welivesecurity.com', 'eset.com'] }).indicators,
  }));
  for (const [group, target] of groups) {
    const ours = recall(read.map(({ campaign, found }) => ({ gold: goldOf(campaign, group), keys: keysOf(found) })));
    const active = recall(
      read.map(({ campaign, found }) => ({
        gold: goldOf(campaign, group),
        keys: keysOf(found.filter(({ status }) => status === 'active')),
      })),
    );
    const theirs =
      peer &&
      recall(
        read.map(({ campaign }) => ({ gold: goldOf(campaign, group), keys: new Set(peer(campaign.text).map(key)) })),
      );
    rows.push({
      what: `recall, ${group}`,
      ours: `${percent(ours.hit, ours.all)} (${ours.hit}/${ours.all}); active ${percent(active.hit, active.all)}`,
      target: target === undefined ? '' : `≥ ${target}`,
      met: target === undefined ? undefined : ours.hit / ours.all >= target,
      peer: theirs ? `ioc-extractor ${percent(theirs.hit, theirs.all)} (${theirs.hit}/${theirs.all})` : '',
    });
    if (verbose) for (const value of ours.missed) console.log(`missed ${group}: ${value}`);
  }
  rows.push(falseOnes(read, verbose, peer));
  return rows;
}

function recall(docs: { gold: string[]; keys: Set<string> }[]): { hit: number; all: number; missed: string[] } {
  const missed = docs.flatMap(({ gold, keys }) =>
    gold.filter((value) => !keys.has(key(value)) && !keys.has(key(canonical('url', value) ?? value))),
  );
  const all = docs.reduce((sum, { gold }) => sum + gold.length, 0);
  return { hit: all - missed.length, all, missed };
}

const network = new Set(['domain', 'url', 'ipv4', 'ipv6']);

function falseOnes(
  read: { campaign: Campaign; found: Found[] }[],
  verbose: boolean,
  peer: Awaited<ReturnType<typeof findPeer>>,
): Figure {
  let all = 0;
  let ours = 0;
  let theirs = 0;
  let unexplained = 0;
  for (const { campaign, found } of read) {
    const benign = benignOf(campaign);
    const active = found
      .filter(({ type, status }) => network.has(type) && status === 'active')
      .map(({ normalizedValue }) => key(normalizedValue));
    const isWrong = (value: string): boolean => benign.has(value) || benign.has(value.replace(/^https?:\/\//, ''));
    const wrong = active.filter(isWrong);
    all += benign.size;
    ours += wrong.length;
    theirs += peer
      ? peer(campaign.text)
          .map(key)
          .filter((value) => network && isWrong(value)).length
      : 0;
    const gold = Object.values(campaign.gold)
      .flat()
      .map(({ value }) => key(value))
      .join('\n');
    const loose = active.filter((value) => !gold.includes(value.replace(/^http:\/\//, '')));
    unexplained += loose.length;
    if (verbose) for (const value of wrong) console.log(`false: ${campaign.campaign} ${value}`);
    if (verbose) for (const value of loose) console.log(`not in gold: ${campaign.campaign} ${value}`);
  }
  return {
    what: 'benign values that come out active',
    ours: `${percent(ours, all)} (${ours}/${all}); ${unexplained} active network values stand in no gold list (--list)`,
    target: '≤ 0.03',
    met: ours / all <= 0.03,
    peer: peer ? `ioc-extractor ${percent(theirs, all)} (${theirs}/${all})` : '',
  };
}
