import { texts as editor } from '../../../texts/editor.ts';
import { Field, TextArea, TextInput } from '../../../ui/forms/form.tsx';
import { ToolPicker } from '../../../ui/forms/name-pickers.tsx';
import { Section } from '../../../ui/section.tsx';
import type { Acceptance } from './acceptance.ts';
import type { FormProps } from './draft.ts';

const texts = editor.acceptance;

/** What a run of a model must fulfill: sentences that a model grades, and checks that code decides. */
export function AcceptanceFields({ draft: { acceptanceCriteria: acceptance }, onChange, problemOf }: FormProps) {
  const change = (part: Partial<Acceptance>): void => onChange({ acceptanceCriteria: { ...acceptance, ...part } });
  return (
    <Section isForm level={2} title={texts.title}>
      <Field label={texts.sentences} hint={texts.sentencesHint} error={problemOf('acceptanceCriteria')}>
        {(control) => (
          <TextArea
            {...control}
            value={acceptance.sentences}
            onChange={({ target }) => change({ sentences: target.value })}
          />
        )}
      </Field>
      {(['citesObservation', 'isDecided'] as const).map((name) => (
        <label key={name} className="flex gap-2">
          <input
            type="checkbox"
            className="mt-1 accent-accent"
            checked={acceptance[name]}
            onChange={({ target }) => change({ [name]: target.checked })}
          />
          {texts[name]}
        </label>
      ))}
      <Field label={texts.fields} hint={texts.fieldsHint}>
        {(control) => (
          <TextInput
            {...control}
            className="font-mono text-12"
            value={acceptance.fields}
            onChange={({ target }) => change({ fields: target.value })}
          />
        )}
      </Field>
      <details>
        <summary className="text-12 text-muted hover:text-ink">
          {texts.tools} {acceptance.tools.length > 0 && `(${acceptance.tools.join(', ')})`}
        </summary>
        <ToolPicker chosen={acceptance.tools} onChange={(tools) => change({ tools })} />
      </details>
    </Section>
  );
}
