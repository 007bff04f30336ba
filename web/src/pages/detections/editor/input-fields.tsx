import { X } from 'lucide-react';
import { texts as common } from '../../../texts/common.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Field, SelectInput, TextArea, TextInput } from '../../../ui/forms/form.tsx';
import type { FormProps, Input } from './draft.ts';

const texts = editor.inputs;
const types = Object.keys(texts.types) as Input['type'][];

/** The values that a run can be given, and the form in which the model answers beside its verdict. */
export function InputFields({ draft: { inputs, structuredOutputSchema }, onChange, problemOf }: FormProps) {
  const change = (at: number, part: Partial<Input>): void =>
    onChange({ inputs: inputs.map((input, index) => (index === at ? { ...input, ...part } : input)) });
  return (
    <>
      <details open={inputs.length > 0 || undefined}>
        <summary className="text-12 text-muted hover:text-ink">
          {texts.title} {inputs.length > 0 && `(${inputs.length})`}
        </summary>
        <div className="mt-2 flex flex-col gap-3">
          <p className="max-w-[72ch] text-12 text-muted">{texts.hint}</p>
          {inputs.map((input, index) => (
            <InputRow
              key={index}
              input={input}
              label={texts.one(index + 1)}
              onChange={(part) => change(index, part)}
              onRemove={() => onChange({ inputs: inputs.filter((_, other) => other !== index) })}
            />
          ))}
          {problemOf('inputs') && <p className="text-12 text-bad">{problemOf('inputs')}</p>}
          <Button
            className="self-start"
            onClick={() =>
              onChange({ inputs: [...inputs, { type: 'text', name: '', description: '', required: false }] })
            }
          >
            {texts.add}
          </Button>
        </div>
      </details>
      <details open={problemOf('structuredOutputSchema') !== undefined || undefined}>
        <summary className="text-12 text-muted hover:text-ink">{texts.output}</summary>
        <div className="mt-2">
          <Field label={texts.schema} hint={texts.schemaHint} error={problemOf('structuredOutputSchema')}>
            {(control) => (
              <TextArea
                {...control}
                spellCheck={false}
                className="max-h-96 font-mono text-12"
                value={structuredOutputSchema}
                onChange={({ target }) => onChange({ structuredOutputSchema: target.value })}
              />
            )}
          </Field>
        </div>
      </details>
    </>
  );
}

type RowProps = { input: Input; label: string; onChange: (part: Partial<Input>) => void; onRemove: () => void };

function InputRow({ input, label, onChange, onRemove }: RowProps) {
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)_auto] gap-2 rounded-control border p-3">
      <legend className="sr-only">{label}</legend>
      <div className="grid min-w-0 gap-2 md:grid-cols-[minmax(0,1fr)_8rem]">
        <Field label={texts.name}>
          {(control) => (
            <TextInput
              {...control}
              className="font-mono text-12"
              value={input.name}
              onChange={({ target }) => onChange({ name: target.value })}
            />
          )}
        </Field>
        <Field label={texts.type}>
          {(control) => (
            <SelectInput
              {...control}
              value={input.type}
              onChange={({ target }) => onChange({ type: target.value as Input['type'] })}
            >
              {types.map((type) => (
                <option key={type} value={type}>
                  {texts.types[type]}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
        <Field label={texts.description} className="md:col-span-2">
          {(control) => (
            <TextInput
              {...control}
              value={input.description}
              onChange={({ target }) => onChange({ description: target.value })}
            />
          )}
        </Field>
        <label className="flex items-center gap-2 md:col-span-2">
          <input
            type="checkbox"
            className="accent-accent"
            checked={input.required}
            onChange={({ target }) => onChange({ required: target.checked })}
          />
          {texts.required}
        </label>
      </div>
      <IconButton label={`${common.remove} ${label}`} onClick={onRemove}>
        <X className="size-4" aria-hidden />
      </IconButton>
    </fieldset>
  );
}
