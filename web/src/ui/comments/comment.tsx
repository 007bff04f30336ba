import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import { AtSign } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { personsQuery } from '../../api/access.ts';
import { texts as common } from '../../texts/common.ts';
import { Button, buttonClass } from '../button.tsx';
import { TextArea } from '../forms/field.tsx';
import { useChange } from '../forms/use-change.ts';
import { RestoredDraft, useDraft } from '../forms/use-draft.tsx';
import { MenuButton } from '../overlays/menu-button.tsx';

const Markdown = lazy(() => import('./markdown.tsx'));
const texts = common.comment;

type TextProps = { text: string; isByAgent: boolean };

/** What a person wrote, in Markdown. What an agent wrote is plain text, because it quotes logs, in which attackers could place links. */
export function CommentText({ text, isByAgent }: TextProps) {
  const plain = <p className="max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{text}</p>;
  return isByAgent ? (
    plain
  ) : (
    <Suspense fallback={plain}>
      <Markdown text={text} />
    </Suspense>
  );
}

type FormProps = {
  /** What the comment is about, such as `hit <id>`. */
  subject: string;
  add: (body: string) => Promise<unknown>;
  refresh: readonly QueryKey[];
  /** Whether a mention makes a person watch. */
  hasMentions?: boolean;
};

export function CommentForm({ subject, add, refresh, hasMentions = false }: FormProps) {
  const [{ body }, change, draft] = useDraft(`comment ${subject}`, { body: '' });
  const { mutate, isPending } = useChange({ change: () => add(body.trim()), refresh, draft, failed: texts.failed });
  const mention = (name: string): void => {
    const isPlain = /^[\p{L}\p{N}_][\p{L}\p{N}_.+-]*(?:@[\p{L}\p{N}_.-]+)?$/u.test(name);
    change({ body: `${body}${/\S$/.test(body) ? ' ' : ''}@${isPlain ? name : `"${name}"`} ` });
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(undefined);
      }}
    >
      <TextArea label={texts.write} rows={2} value={body} onChange={({ target }) => change({ body: target.value })} />
      <RestoredDraft draft={draft} />
      <div className="flex gap-1">
        <Button type="submit" disabled={isPending || body.trim() === ''}>
          {texts.add}
        </Button>
        {hasMentions && <MentionMenu onSelect={mention} />}
      </div>
    </form>
  );
}

/** The people whom a comment can mention. */
function MentionMenu({ onSelect }: { onSelect: (name: string) => void }) {
  const { data } = useInfiniteQuery(personsQuery);
  const people = data?.pages.flatMap(({ persons }) => persons).filter(({ disabled }) => !disabled) ?? [];
  if (people.length === 0) return null;
  return (
    <MenuButton
      entries={people.map(({ name }) => ({ kind: 'action', label: name, onSelect: () => onSelect(name) }))}
      className={buttonClass('secondary')}
    >
      <AtSign className="size-3.5" aria-hidden />
      {texts.mention}
    </MenuButton>
  );
}
