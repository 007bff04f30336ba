import { useState } from 'react';
import { changeSource, type Source } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { useChange } from '../../ui/forms/use-change.ts';
import { toChange, toDraft, type SourceDraft } from './source-draft.ts';
import { SourceForm } from './source-form.tsx';

type Props = { source: Source; onSaved: () => void };

/** Changes the settings of a source. Its kind and visibility stay. */
export function EditSource({ source, onSaved }: Props) {
  const [seen] = useState(source);
  const { mutate, isPending, error } = useChange({
    change: (draft: SourceDraft) => changeSource(seen, toChange(draft)),
    refresh: [['sources', 'list']],
    done: () => texts.saved,
    failed: texts.notChanged,
  });
  return (
    <div className="flex flex-col gap-6 px-4 py-5">
      <h2 className="text-15 font-strong break-words">{texts.editTitle(source.name)}</h2>
      <SourceForm
        initial={toDraft(seen)}
        source={source}
        isPending={isPending}
        error={error}
        onSave={(draft) => mutate(draft, { onSuccess: onSaved })}
      />
    </div>
  );
}
