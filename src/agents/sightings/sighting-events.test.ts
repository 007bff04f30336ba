import { expect, test } from 'vitest';
import { extractItem } from '../../feed/extraction/extract-item.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { createSightingComposer } from './sighting-events.ts';
import type { Sighting } from './find-sightings.ts';

test('says in the event of a sighting what the report says of this value, and not of others', () => {
  const text =
    'AsyncRAT connects to asyncrat-c2[.]top. Remcos connects to remcos-c2[.]top. The server of both is quiet-panel[.]top.';
  const { iocs, classification, severity } = extractItem({ title: 'Two families', text });
  const item = {
    id: 'one',
    iocs,
    classification,
    event: { title: 'Two families', severity },
    source: { publisher: 'Acme', tlp: 'CLEAR' },
  } as unknown as FeedItem;
  const compose = createSightingComposer(
    { connectionId: 'siem' },
    { items: [item], overrides: new Map(), now: new Date('2026-03-02T00:00:00Z') },
  );
  const read = (value: string) => {
    const row = {
      itemId: 'one',
      type: 'domain',
      value,
      match: 'exact',
      observed: value,
      dataset: 'dns',
      eventKey: '1',
    };
    const { indicator, malware, actor } = compose({ ...row, event: '{}' } as Sighting)!;
    return { indicator, malware, actor };
  };
  expect(['asyncrat-c2.top', 'remcos-c2.top', 'quiet-panel.top'].map(read)).toEqual([
    { indicator: 'asyncrat-c2.top', malware: 'AsyncRAT', actor: undefined },
    { indicator: 'remcos-c2.top', malware: 'Remcos', actor: undefined },
    { indicator: 'quiet-panel.top', malware: undefined, actor: undefined },
  ]);
});
