import { useState } from 'react';
import { changeRuleSource, type RuleSource } from '../../../api/rule-sources.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Button } from '../../../ui/button.tsx';
import { findFieldError, FormError, TextField } from '../../../ui/forms/field.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { type Draft, RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

export type RuleSourceDraft = { name: string; url: string };

type Props = {
  /** The ID of the source that is edited. */
  id?: string;
  initial: RuleSourceDraft;
  action: string;
  isPending: boolean;
  error: Error | null;
  onSave: (draft: RuleSourceDraft, kept: Draft) => void;
};

/** The name and the address of a set of rules. */
export function RuleSourceForm({ id = '', initial, action, isPending, error, onSave }: Props) {
  const [draft, setDraft, kept] = useDraft(`rule source ${id}`, { name: initial.name, url: initial.url });
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ name: draft.name.trim(), url: draft.url.trim() }, kept);
      }}
    >
      <TextField
        label={texts.name}
        required
        value={draft.name}
        onChange={({ target }) => setDraft({ ...draft, name: target.value })}
        error={findFieldError(error, '/name')}
      />
      <TextField
        label={texts.address}
        hint={texts.addressHint}
        required
        placeholder="https://"
        className="font-mono text-12"
        value={draft.url}
        onChange={({ target }) => setDraft({ ...draft, url: target.value })}
        error={findFieldError(error, '/url')}
      />
      <FormError error={error} shown={['/name', '/url']} />
      <RestoredDraft draft={kept} />
      <Button kind="primary" type="submit" disabled={isPending} className="self-start">
        {action}
      </Button>
    </form>
  );
}

type EditProps = { source: RuleSource; onSaved: () => void };

export function EditRuleSource({ source, onSaved }: EditProps) {
  const [seen] = useState(source);
  const { mutate, isPending, error } = useChange({
    change: ({ draft }: { draft: RuleSourceDraft; kept: Draft }) => changeRuleSource(seen, draft),
    refresh: [['rule-sources']],
    done: (_source, { kept }) => {
      kept.reset();
      return texts.saved;
    },
  });
  return (
    <div className="flex flex-col gap-6 px-4 py-5">
      <h2 className="text-15 font-strong break-words">{texts.editTitle(source.name)}</h2>
      <RuleSourceForm
        id={source.id}
        initial={seen}
        action={texts.save}
        isPending={isPending}
        error={error}
        onSave={(draft, kept) => mutate({ draft, kept }, { onSuccess: onSaved })}
      />
    </div>
  );
}
