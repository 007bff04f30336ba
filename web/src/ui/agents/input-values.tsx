import type { Agent, InputValues } from '../../api/agents.ts';
import { texts } from '../../texts/agents.ts';
import { findFieldError, SelectField, TextField } from '../forms/field.tsx';

type Inputs = Agent['inputs'];
/** What was typed for each input, by name. */
export type TypedInputs = Readonly<Record<string, string>>;

const controls = { text: 'text', number: 'number', date: 'text' } as const;

/** Returns the values of typed inputs. One that is empty is left out. */
export const readInputs = (inputs: Inputs, typed: TypedInputs): InputValues =>
  Object.fromEntries(
    inputs
      .filter(({ name }) => (typed[name] ?? '') !== '')
      .map(({ name, type }) => [name, readInput(type, typed[name]!)]),
  );

/** Returns the value of an input from what was typed. */
export const readInput = (type: Inputs[number]['type'], text: string): string | number | boolean =>
  type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;

type Props = { inputs: Inputs; typed: TypedInputs; error: Error | null; onChange: (typed: TypedInputs) => void };

/** A field for each input that an agent declares. */
export function InputValueFields({ inputs, typed, error, onChange }: Props) {
  return inputs.map(({ name, type, description, required }) => {
    const frame = {
      label: name,
      hint: description === '' ? undefined : description,
      error: findFieldError(error, inputPointer(name)),
      required,
      value: typed[name] ?? '',
      onChange: ({ target }: { target: { value: string } }) => onChange({ ...typed, [name]: target.value }),
    };
    return type === 'boolean' ? (
      <SelectField
        key={name}
        {...frame}
        options={[
          { value: '', label: texts.run.unset },
          { value: 'true', label: texts.run.yes },
          { value: 'false', label: texts.run.no },
        ]}
      />
    ) : (
      <TextField
        key={name}
        {...frame}
        type={controls[type]}
        {...(type === 'number' && { step: 'any' })}
        {...(type === 'date' && { placeholder: '2026-03-02T10:00:00Z' })}
      />
    );
  });
}

/** Returns the JSON pointer (RFC 6901) of an input in a request. */
export const inputPointer = (name: string): string => `/inputs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
