import { useQuery } from '@tanstack/react-query';
import { categoriesQuery } from '../../api/detection-parts.ts';
import { toWords } from '../../lib/text.ts';

/** Returns a function that returns the label of a category. */
export function useCategoryLabel(): (name: string) => string {
  const { data } = useQuery(categoriesQuery);
  return (name) => data?.find((category) => category.name === name)?.label ?? toWords(name);
}

export function CategoryLabel({ name }: { name: string }) {
  return useCategoryLabel()(name);
}
