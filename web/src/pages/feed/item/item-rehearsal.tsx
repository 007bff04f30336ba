import { rehearse } from '../../../api/coverage.ts';
import type { FeedItem } from '../../../api/feed.ts';
import { texts } from '../../../texts/coverage.ts';
import { Button } from '../../../ui/button.tsx';
import { Rehearsed } from '../../../ui/evidence/rehearsed.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Section } from '../../../ui/section.tsx';
import { indicatorsOf } from '../item-fields.ts';

/** Rehearses the techniques and indicators of an item with all enabled detections, and shows which would have fired. */
export function ItemRehearsal({ item }: { item: FeedItem }) {
  const { mutate, data, isPending } = useChange({
    change: (itemId: string) => rehearse({ itemId }),
    refresh: [['coverage']],
    failed: texts.rehearseItemFailed,
  });
  if (item.classification.attack.length === 0 && indicatorsOf(item).length === 0) return null;
  return (
    <Section title={texts.rehearsal}>
      <p className="text-muted">{texts.rehearseItem}</p>
      {data?.rehearsals.map(({ technique, ...result }) => (
        <Rehearsed key={technique} name={technique} result={result} />
      ))}
      {data?.indicators.map(({ kind, ...result }) => (
        <Rehearsed key={kind} name={texts.indicatorKinds[kind]} result={result} />
      ))}
      {data && data.notRehearsable.length > 0 && (
        <p className="text-12 text-muted">{texts.notShipped(data.notRehearsable)}</p>
      )}
      {data && data.rehearsals.length + data.indicators.length + data.notRehearsable.length === 0 && (
        <p className="text-12 text-muted">{texts.nothingToRehearse}</p>
      )}
      {data?.complete === false && <p className="text-12 text-high">{texts.rehearsalIncomplete}</p>}
      <Button className="self-start" disabled={isPending} onClick={() => mutate(item.id)}>
        {isPending ? texts.rehearsing : texts.rehearse}
      </Button>
    </Section>
  );
}
