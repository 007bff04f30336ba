import { listItems, type ListItemsDeps } from '../feed/items/list-items.ts';
import { lookUpIndicator, lookUpIndicators } from '../feed/indicators/look-up-indicators.ts';
import type { FeedList } from '../feed/model/item.schema.ts';
import { findTechnique } from '../feed/reference-data/attack.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { FeedTools } from '../detection/tools/tool-sources.ts';

const itemsMax = 3;

/** Creates the feed and ATT&CK lookups that detection tools use, so that the detection half need not import the feed. */
export function createFeedTools(deps: ListItemsDeps): (orgId: OrgId) => FeedTools {
  return (orgId) => ({
    searchFeed: async (text, limit) => {
      const page = await listItems(deps, { orgId }, { q: text, perPage: String(limit) });
      const { items, validations } = JSON.parse(String(await page.bytes('identity'))) as FeedList;
      const warnings = (validations?.warnings ?? []).map(({ message }) => message);
      return { items: items.map(summarize), ...(warnings.length > 0 && { warnings }) };
    },
    lookupIndicator: (value) => lookUpIndicator(deps, { orgId }, value),
    lookupTechnique: findTechnique,
    findKnownIndicators: async (values) => {
      const { indicators } = await lookUpIndicators(deps, { orgId }, { values });
      return indicators
        .filter(({ items }) => items.length > 0)
        .map(({ value, items }) => ({ indicator: value, items: items.slice(0, itemsMax).map(({ title }) => title) }));
    },
  });
}

const summarize = ({ id, event, source, tenantOverrides: own }: FeedList['items'][number]) => ({
  id,
  title: event.title,
  severity: own?.severity ?? event.severity,
  status: own?.status ?? event.status,
  publisher: source.publisher,
  publishTime: source.publishTime,
});
