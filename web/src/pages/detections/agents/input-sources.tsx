import type { Agent } from '../../../api/agents.ts';
import { texts as all } from '../../../texts/agents.ts';
import { inputPointer } from '../../../ui/agents/input-values.tsx';
import { SelectField, TextField, findFieldError } from '../../../ui/forms/field.tsx';
import { noSource, type InputSource, type TriggerDraft } from './trigger-draft.ts';

const texts = all.trigger;
const kinds = (['', 'from', 'value'] as const).map((value) => ({ value, label: texts[value || 'unset'] }));

type Props = {
  inputs: Agent['inputs'];
  sources: TriggerDraft['inputs'];
  error: Error | null;
  onChange: (sources: TriggerDraft['inputs']) => void;
};

/** What a trigger sets each input of an agent to. */
export function InputSources({ inputs, sources, error, onChange }: Props) {
  if (inputs.length === 0) return null;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="text-12 font-strong text-muted">{texts.inputs}</legend>
      <p className="text-12 text-faint">{texts.inputsHint}</p>
      {inputs.map(({ name, required }) => {
        const source = sources[name] ?? noSource;
        const change = (part: Partial<InputSource>): void => onChange({ ...sources, [name]: { ...source, ...part } });
        return (
          <div key={name} className="grid gap-2 md:grid-cols-[10rem_minmax(0,1fr)]">
            <SelectField
              label={texts.kind(name)}
              value={source.kind}
              options={kinds}
              required={required}
              onChange={({ target }) => change({ kind: target.value as InputSource['kind'] })}
            />
            {source.kind !== '' && (
              <TextField
                label={texts[source.kind]}
                required
                className="font-mono text-12"
                placeholder={source.kind === 'from' ? '/entity' : undefined}
                error={findFieldError(error, inputPointer(name))}
                value={source.text}
                onChange={({ target }) => change({ text: target.value })}
              />
            )}
          </div>
        );
      })}
    </fieldset>
  );
}
