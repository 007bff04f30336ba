import type { ConfiguredModel } from '../../platform/models/models.ts';
import type { FeedItem } from '../model/item.schema.ts';

/** TLP 2.0 labels whose recipients may not share a text outside their own organization. */
const internalOnly: readonly string[] = ['AMBER+STRICT', 'RED'];

/** Returns whether an item's text may be sent to a model: items marked AMBER+STRICT or RED go to local models only. */
export const canModelRead = ({ entry }: Pick<ConfiguredModel, 'entry'>, item: Pick<FeedItem, 'source'>): boolean =>
  entry.local || !internalOnly.includes(item.source.tlp);
