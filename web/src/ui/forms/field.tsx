import { useId, type ComponentProps } from 'react';
import { ApiProblem, isSignedOut } from '../../api/problem.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/sign-in.ts';
import { Field } from './form.tsx';
import { RequestId } from '../request-id.tsx';

type Frame = { label: string; hint?: React.ReactNode; error?: string | undefined; isOptional?: boolean };

const control =
  'w-full rounded-control border border-line-strong bg-surface placeholder:text-faint aria-invalid:border-bad disabled:opacity-60';

/** A labelled line of text. An error replaces the hint below. */
export function TextField({
  label,
  hint,
  error,
  className,
  ...props
}: Frame & Omit<ComponentProps<'input'>, 'className'> & { className?: string }) {
  return (
    <Field {...{ label, hint, error }}>
      {(ids) => (
        <input
          autoComplete="off"
          spellCheck={false}
          {...props}
          {...ids}
          className={classes(control, 'h-8 px-2.5', className)}
        />
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  className,
  ...props
}: Frame & Omit<ComponentProps<'textarea'>, 'className'> & { className?: string }) {
  return (
    <Field {...{ label, hint, error }}>
      {(ids) => (
        <textarea
          spellCheck={false}
          rows={4}
          {...props}
          {...ids}
          className={classes(control, 'px-2.5 py-1.5', className)}
        />
      )}
    </Field>
  );
}

type Option = { value: string; label: string };

export function SelectField({
  label,
  hint,
  error,
  options,
  ...props
}: Frame & Omit<ComponentProps<'select'>, 'className'> & { options: readonly Option[] }) {
  return (
    <Field {...{ label, hint, error }}>
      {(ids) => (
        <select {...props} {...ids} className={classes(control, 'h-8 px-1.5')}>
          {options.map(({ value, label: name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({ label, hint, ...props }: Frame & Omit<ComponentProps<'input'>, 'className' | 'type'>) {
  const id = useId();
  return (
    <div className="grid grid-cols-[auto_1fr] items-baseline gap-x-2">
      <input
        type="checkbox"
        {...props}
        id={id}
        {...(hint ? { 'aria-describedby': `${id}-note` } : {})}
        className="size-3.5 translate-y-0.5 accent-(--color-accent)"
      />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-note`} className="col-start-2 text-12 text-faint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Returns what the API says about one field of a request. `pointer` is a JSON pointer. */
export const findFieldError = (error: Error | null, pointer: string): string | undefined =>
  error instanceof ApiProblem ? error.errors.find((problem) => problem.pointer === pointer)?.detail : undefined;

type FormErrorProps = {
  error: Error | null;
  /** The fields that show their own errors. */
  shown?: readonly string[];
};

/** The errors of the API about a request as a whole, and about fields that the form does not show. */
export function FormError({ error, shown = [] }: FormErrorProps) {
  if (!error) return null;
  const problems = error instanceof ApiProblem ? error.errors : [];
  const others = problems.filter(({ pointer }) => !shown.includes(pointer));
  if (problems.length > 0 && others.length === 0) return null;
  return (
    <div role="alert" className="mt-4 rounded-control border border-bad px-3 py-2 break-words text-bad">
      {others.length === 0
        ? isSignedOut(error)
          ? texts.ended.resend
          : error.message
        : others.map(({ pointer, detail }) => <p key={pointer}>{`${pointer}: ${detail}`}</p>)}
      {error instanceof ApiProblem && error.requestId && <RequestId id={error.requestId} />}
    </div>
  );
}
