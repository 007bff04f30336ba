import { z } from 'zod';
import type { IndicatorContext } from '../../context/context.schema.ts';
import type { ItemSightings } from '../../sightings/sightings.schema.ts';
import type { FeedItem, FeedItemDetail, FeedList } from '../../../feed/model/item.schema.ts';
import { itemStatuses, severities } from '../../../feed/model/vocabulary.ts';
import { defineTool, pick, withQuery, idInput, limitInput, textInput, timeInput } from './tool.ts';

export const feedTools = [
  defineTool({
    name: 'search_feed',
    title: 'Search the threat feed',
    description:
      'Searches the reports of the threat-intelligence feed, newest first. All conditions must match. Use get_feed_item for the indicators and the passages of one report.',
    scopes: ['feed:read'],
    input: z.strictObject({
      text: textInput(500, 'Words that all must match. Supports "…" for a phrase, `or` and `-word`.').optional(),
      indicator: textInput(2000, 'An indicator in any notation, also defanged.').optional(),
      cve: textInput(50, 'A CVE ID, such as CVE-2024-12345.').optional(),
      technique: textInput(50, 'An ATT&CK ID. A technique also matches its sub-techniques.').optional(),
      actor: textInput(200, 'Name or alias of an actor.').optional(),
      platform: textInput(200, 'A platform, such as windows, linux or saas.').optional(),
      severity: z.enum(severities).optional(),
      status: z.enum(itemStatuses).optional(),
      onlyRelevant: z
        .boolean()
        .default(false)
        .describe("Only reports that match the organization's relevance profile."),
      updatedSince: timeInput('Reports that changed at this time or later.').optional(),
      page: z.int().min(1).max(100_000).default(1),
      limit: limitInput(10),
    }),
    run: async (callApi, { text, onlyRelevant, limit, ...filters }) => {
      const parameters = { q: text, ...(onlyRelevant && { relevancyMode: 'relevant' }), perPage: limit, ...filters };
      const { items, total, page, hasNext, validations } = await callApi<FeedList>(
        'GET',
        withQuery('/api/feed/items', parameters),
      );
      return { items: items.map(summarizeItem), total, page, hasNext, warnings: validations?.warnings ?? [] };
    },
  }),
  defineTool({
    name: 'get_feed_item',
    title: 'Get a report of the feed',
    description:
      'Returns a report of the feed with its indicators, techniques, actors, products and the passages behind them, and the log rows of the organization that contain its indicators.',
    scopes: ['feed:read'],
    input: z.strictObject({ id: idInput('item') }),
    run: async (callApi, { id }) => {
      const [item, { sightings }] = await Promise.all([
        callApi<FeedItemDetail>('GET', `/api/feed/items/${id}`),
        callApi<ItemSightings>('GET', `/api/feed/items/${id}/sightings`),
      ]);
      return { item, sightings };
    },
  }),
  defineTool({
    name: 'look_up_indicator',
    title: 'Look up an indicator',
    description:
      'Returns everything that is known of an address, domain, URL, hash, e-mail address or other indicator: whether the feed holds it as active, in which reports, whether it was seen in the logs, and hits that contain it. `unknown` means that no report mentions it, not that it is harmless.',
    scopes: ['feed:read'],
    input: z.strictObject({ value: textInput(2000, 'The indicator in any notation, also defanged.') }),
    run: (callApi, { value }) => callApi<IndicatorContext>('GET', withQuery('/api/indicators/context', { value })),
  }),
];

/** Returns what a list shows of an item: what it says, and how much it has. */
const summarizeItem = (item: FeedItem) => ({
  id: item.id,
  ...pick(item.event, ['title', 'severity', 'confidence', 'status']),
  summary: item.tldr ?? item.summary ?? item.abstract,
  source: pick(item.source, ['publisher', 'url', 'publishTime', 'tlp']),
  techniques: item.classification.attack.map(({ technique, subTechnique }) => subTechnique ?? technique),
  actors: item.classification.actor.map(({ name }) => name),
  malware: item.classification.malware.map(({ name }) => name),
  indicators: Object.fromEntries(Object.entries(item.iocs).map(([bucket, { length }]) => [bucket, length])),
  addedToFeedAt: item.addedToFeedAt,
});
