import type { FeedItem } from '../../api/feed.ts';
import { texts } from '../../texts/feed.ts';
import { Button } from '../../ui/button.tsx';
import { ReasonForm } from '../../ui/forms/reason-form.tsx';
import { Key } from '../../ui/key.tsx';
import type { Judgment } from './use-override.ts';
import { VerdictLabel } from './verdict.tsx';

type Verdict = NonNullable<Judgment>;
type Props = {
  item: FeedItem;
  /** The verdict that waits for its reason, chosen here or with a key. */
  pending: Verdict | null;
  onChoose: (verdict: Verdict | null) => void;
  onSave: (item: FeedItem, verdict: Judgment, reason: string) => Promise<boolean>;
};

/** The decisions about an item's relevance. A person's verdict stands above every other one. */
export function RelevanceBar({ item, pending, onChoose, onSave }: Props) {
  const relevance = item.tenantOverrides?.relevance;
  const own = relevance?.judgedBy === 'person' ? relevance.verdict : undefined;
  if (pending)
    return (
      <ReasonForm
        subject={`item ${item.id}`}
        placeholder={texts.reason}
        onCancel={() => onChoose(null)}
        onSave={(reason) => {
          onChoose(null);
          return onSave(item, pending, reason);
        }}
      >
        <VerdictLabel verdict={pending} />
      </ReasonForm>
    );
  return (
    <div className="flex flex-wrap gap-1.5" role="group" aria-label={texts.relevance}>
      {own !== 'relevant' && (
        <Button onClick={() => onChoose('relevant')} aria-keyshortcuts="1">
          {texts.verdict.relevant}
          <Key>1</Key>
        </Button>
      )}
      {own !== 'irrelevant' && (
        <Button onClick={() => onChoose('irrelevant')} aria-keyshortcuts="2">
          {texts.verdict.irrelevant}
          <Key>2</Key>
        </Button>
      )}
      {own && (
        <Button kind="quiet" onClick={() => void onSave(item, null, '')}>
          {texts.clearOverride}
        </Button>
      )}
    </div>
  );
}
