import { useState } from 'react';
import { changeRuleSource, type RuleSource } from '../../../api/rule-sources.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Button } from '../../../ui/button.tsx';
import { findFieldError, FormError, TextField } from '../../../ui/forms/field.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';

export type RuleSourceDraft = { name: string; url: string };

type Props = {
  initial: RuleSourceDraft;
  action: string;
  isPending: boolean;
  error: Error | null;
  onSave: (draft: RuleSourceDraft) => void;
};

/** The name and the address of a set of rules. */
export function RuleSourceForm({ initial, action, isPending, error, onSave }: Props) {
  const [draft, setDraft] = useState(initial);
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSave({ name: draft.name.trim(), url: draft.url.trim() });
      }}
    >
      <TextField
        label={texts.name}
        required
        maxLength={100}
        value={draft.name}
        onChange={({ target }) => setDraft({ ...draft, name: target.value })}
        error={findFieldError(error, '/name')}
      />
      <TextField
        label={texts.address}
        hint={texts.addressHint}
        required
        maxLength={2000}
        placeholder="https://"
        className="font-mono text-12"
        value={draft.url}
        onChange={({ target }) => setDraft({ ...draft, url: target.value })}
        error={findFieldError(error, '/url')}
      />
      <FormError error={error} shown={['/name', '/url']} />
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
    change: (draft: RuleSourceDraft) => changeRuleSource(seen, draft),
    refresh: [['rule-sources']],
    done: () => texts.saved,
    failed: texts.notChanged,
  });
  return (
    <div className="flex flex-col gap-6 px-4 py-5">
      <h2 className="text-15 font-strong break-words">{texts.editTitle(source.name)}</h2>
      <RuleSourceForm
        initial={seen}
        action={texts.save}
        isPending={isPending}
        error={error}
        onSave={(draft) => mutate(draft, { onSuccess: onSaved })}
      />
    </div>
  );
}
