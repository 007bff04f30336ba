import { readRecordedRows } from './recorded-inputs.ts';

type GoldValue = { value: string; toIds: boolean; inText: boolean };
export type Campaign = { campaign: string; text: string; gold: Record<string, GoldValue[]> };

/** Reads the campaigns, each with all its pages as one text. */
export const readCampaigns = (): Campaign[] =>
  readRecordedRows<{
    campaign: string;
    readme: string;
    moreTexts: { text: string }[];
    gold: Record<string, GoldValue[]>;
  }>('feed/eset/campaigns.ndjson.gz').map(({ campaign, readme, moreTexts, gold }) => ({
    campaign,
    text: [readme, ...moreTexts.map(({ text }) => text)].join('\n\n'),
    gold,
  }));

export const goldGroups: Record<string, string[]> = {
  ip: ['ipv4', 'ipv6'],
  hash: ['md5', 'sha1', 'sha256', 'imphash'],
  domain: ['domain'],
  url: ['url', 'uri', 'link'],
  file: ['filename'],
  'registry key': ['regkey'],
};

export function listGoldValues({ gold }: Campaign, group: string): string[] {
  const wanted = goldGroups[group]!.filter((type) => type !== 'uri' && type !== 'link');
  return [
    ...new Set(wanted.flatMap((type) => (gold[type] ?? []).filter(({ inText }) => inText).map(({ value }) => value))),
  ];
}
