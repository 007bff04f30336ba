import { ApiProblem } from '../../../api/problem.ts';

/** Returns a function that finds what an answer of the API says about a field of the body. */
export function problemFinder(error: Error | null): (field: string) => string | undefined {
  const problems = error instanceof ApiProblem ? error.errors : [];
  return (field) => problems.find(({ pointer }) => pointer.split('/').includes(field))?.detail;
}
