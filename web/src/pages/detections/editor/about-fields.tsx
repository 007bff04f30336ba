import { texts } from '../../../texts/editor.ts';
import { Field, TextArea, TextInput } from '../../../ui/forms/form.tsx';
import type { FormProps } from './draft.ts';

const { fields, hints } = texts;

/** What a definition is for, and its tags. */
export function AboutFields({ draft, onChange, problemOf }: FormProps) {
  return (
    <>
      <Field label={fields.description} error={problemOf('description')}>
        {(control) => (
          <TextArea
            {...control}
            className="min-h-8"
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
      <Field label={fields.tags} hint={hints.tags} error={problemOf('tags')}>
        {(control) => (
          <TextInput {...control} value={draft.tags} onChange={(event) => onChange({ tags: event.target.value })} />
        )}
      </Field>
    </>
  );
}
