import { extractIndicators, type ExtractedIndicator } from '../../src/feed/extraction/indicators/extract-indicators.ts';
import { canonicalize } from '../../src/feed/extraction/indicators/indicator-candidate.ts';
import { readCampaigns, listGoldValues, type Campaign } from './eset-campaigns.ts';
import { listBenignValues } from './eset-benign.ts';
import { readRecordedWarningLists } from './recorded-lists.ts';
import { loadIocExtractor } from './ioc-extractor.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';

const publisherHosts = ['welivesecurity.com', 'eset.com'];

const groups = [
  ['ip', 0.98],
  ['hash', 0.99],
  ['domain', 0.95],
  ['url', 0.95],
  ['file', undefined],
  ['registry key', undefined],
] as const;

/** Returns the comparison form of a value: lower case, with short hive names and without duplicate or trailing slashes. */
const key = (value: string): string =>
  value
    .toLowerCase()
    .replaceAll(/\\{2,}/g, '\\')
    .replace(/^(?:hkcu|hkey_current_user)\\/, 'hkcu\\')
    .replace(/^(?:hklm|hkey_local_machine)\\/, 'hklm\\')
    .replace(/[\\/]$/, '');

const listKeys = (found: ExtractedIndicator[]): Set<string> =>
  new Set(
    found.flatMap(({ normalizedValue }) => [key(normalizedValue), key(normalizedValue.replace(/^http:\/\//, ''))]),
  );

/** Measures recall by type and false positives on the ESET campaigns, compared with npm's ioc-extractor. */
export async function measureIndicators(verbose: boolean): Promise<QualityFigure[]> {
  const peer = await loadIocExtractor();
  const rows: QualityFigure[] = [];
  const read = readCampaigns().map((campaign) => ({
    campaign,
    found: extractIndicators(campaign.text, { publisherHosts }).indicators,
  }));
  for (const [group, target] of groups) {
    const ours = recall(
      read.map(({ campaign, found }) => ({ gold: listGoldValues(campaign, group), keys: listKeys(found) })),
    );
    const active = recall(
      read.map(({ campaign, found }) => ({
        gold: listGoldValues(campaign, group),
        keys: listKeys(found.filter(({ status }) => status === 'active')),
      })),
    );
    const theirs =
      peer &&
      recall(
        read.map(({ campaign }) => ({
          gold: listGoldValues(campaign, group),
          keys: new Set(peer(campaign.text).map(key)),
        })),
      );
    rows.push({
      name: `recall, ${group}, shipped lists`,
      measured: `${formatRatio(ours.hit, ours.all)} (${ours.hit}/${ours.all}); active ${formatRatio(active.hit, active.all)}`,
      target: target === undefined ? '' : `≥ ${target}`,
      isMet: target === undefined ? undefined : ours.hit / ours.all >= target,
      peer: theirs ? `ioc-extractor ${formatRatio(theirs.hit, theirs.all)} (${theirs.hit}/${theirs.all})` : '',
    });
    if (verbose) for (const value of ours.missed) console.log(`missed ${group}: ${value}`);
  }
  rows.push(createFalsePositiveFigure('benign values reported as active, shipped lists', read, verbose, peer));
  const benign = readRecordedWarningLists();
  const large = readCampaigns().map((campaign) => ({
    campaign,
    found: extractIndicators(campaign.text, { publisherHosts, benign }).indicators,
  }));
  rows.push(createFalsePositiveFigure('benign values reported as active, installed lists', large, false, undefined));
  for (const [group] of groups) {
    const active = recall(
      large.map(({ campaign, found }) => ({
        gold: listGoldValues(campaign, group),
        keys: listKeys(found.filter(({ status }) => status === 'active')),
      })),
    );
    rows.push({
      name: `gold values reported as active, ${group}, installed lists`,
      measured: `${formatRatio(active.hit, active.all)} (${active.hit}/${active.all})`,
    });
  }
  return rows;
}

function recall(docs: { gold: string[]; keys: Set<string> }[]): { hit: number; all: number; missed: string[] } {
  const missed = docs.flatMap(({ gold, keys }) =>
    gold.filter((value) => !keys.has(key(value)) && !keys.has(key(canonicalize('url', value) ?? value))),
  );
  const all = docs.reduce((sum, { gold }) => sum + gold.length, 0);
  return { hit: all - missed.length, all, missed };
}

/** Explains an active value outside the gold list by its reasons. */
function explainActiveValue({ reasons, normalizedValue }: ExtractedIndicator, benign: Set<string>): string {
  if (benign.has(key(normalizedValue))) return 'in the benign list';
  if (reasons.includes('printed defanged')) return 'printed defanged';
  const isAlone = reasons.includes('alone in its line or cell');
  if (reasons.includes('in a section of indicators'))
    return isAlone ? 'alone in a line of an indicator list' : 'inside a line of an indicator list';
  return isAlone ? 'alone in a line or cell' : 'unexplained';
}

const network = new Set(['domain', 'url', 'ipv4', 'ipv6']);

function createFalsePositiveFigure(
  name: string,
  read: { campaign: Campaign; found: ExtractedIndicator[] }[],
  verbose: boolean,
  peer: Awaited<ReturnType<typeof loadIocExtractor>>,
): QualityFigure {
  let all = 0;
  let ours = 0;
  let theirs = 0;
  const unexplained = new Map<string, number>();
  for (const { campaign, found } of read) {
    const benign = listBenignValues(campaign);
    const active = found
      .filter(({ type, status }) => network.has(type) && status === 'active')
      .map(({ normalizedValue }) => key(normalizedValue));
    const isWrong = (value: string): boolean => benign.has(value) || benign.has(value.replace(/^https?:\/\//, ''));
    const wrong = active.filter(isWrong);
    all += benign.size;
    ours += wrong.length;
    theirs += peer ? peer(campaign.text).map(key).filter(isWrong).length : 0;
    const gold = Object.values(campaign.gold)
      .flat()
      .map(({ value }) => key(value))
      .join('\n');
    const loose = found.filter(
      ({ type, status, normalizedValue }) =>
        network.has(type) && status === 'active' && !gold.includes(key(normalizedValue).replace(/^http:\/\//, '')),
    );
    for (const one of loose) {
      const why = explainActiveValue(one, benign);
      unexplained.set(why, (unexplained.get(why) ?? 0) + 1);
      if (verbose) console.log(`not in gold, ${why}: ${campaign.campaign} ${one.normalizedValue}`);
    }
    if (verbose) for (const value of wrong) console.log(`false: ${campaign.campaign} ${value}`);
  }
  return {
    name: name,
    measured: `${formatRatio(ours, all)} (${ours}/${all}); active outside the gold list: ${[...unexplained].map(([why, count]) => `${count} ${why}`).join(', ')}`,
    target: '≤ 0.03',
    isMet: ours / all <= 0.03,
    peer: peer ? `ioc-extractor ${formatRatio(theirs, all)} (${theirs}/${all})` : '',
  };
}
